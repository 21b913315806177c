/** The functions that make up the Chat Completions format, for the table in `formats/index.ts`. */

import type { ConversationFormat } from '../../conversation/format.ts'
import { arrayOrEmpty, isObject } from '../../lib/json.ts'
import { plain } from './plain.ts'
import { readReasoning } from './read-reasoning.ts'
import { ChatReplyReader } from './read-reply.ts'
import { type ChatEcho, echoOf, readRequest } from './read-request.ts'
import { readStructure } from './read-tools.ts'
import { replay } from './replay.ts'
import { ChatReplyWriter, writeReply } from './write-reply.ts'
import { writeRequest } from './write-request.ts'

export const chat: ConversationFormat<ChatEcho> = {
  readRequest,
  echoOf,
  readReasoning,
  readStructure,
  plain,
  stopField: 'stop',
  place: index => `messages[${index}]`,
  writeRequest,
  // Some providers omit the message when their content filter has removed it.
  isReply: reply =>
    arrayOrEmpty(reply.choices)
      .filter(isObject)
      .some(choice => isObject(choice.message) || choice.finish_reason === 'content_filter'),
  replay,
  openReader: (sink, facts) => new ChatReplyReader(sink, facts),
  openWriter: (echo, facts) => new ChatReplyWriter(echo, facts),
  writeReply,
}
