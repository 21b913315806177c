/** The functions that make up the messages format, for the table in `formats/index.ts`. */

import type { ConversationFormat } from '../../conversation/format.ts'
import { plain } from './plain.ts'
import { readReasoning } from './read-reasoning.ts'
import { MessagesReplyReader } from './read-reply.ts'
import { type MessagesEcho, readRequest } from './read-request.ts'
import { readStructure } from './read-tools.ts'
import { replay } from './replay.ts'
import { MessagesReplyWriter, writeReply } from './write-reply.ts'
import { writeRequest } from './write-request.ts'

export const messages: ConversationFormat<MessagesEcho> = {
  readRequest,
  readReasoning,
  readStructure,
  plain,
  stopField: 'stop_sequences',
  place: index => `messages.${index}`,
  writeRequest,
  isReply: reply => Array.isArray(reply.content),
  replay,
  openReader: (sink, facts) => new MessagesReplyReader(sink, facts),
  openWriter: (echo, facts) => new MessagesReplyWriter(echo, facts),
  writeReply,
}
