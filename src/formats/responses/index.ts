/** The functions that make up the responses format, for the table in `formats/index.ts`. */

import type { ConversationFormat } from '../../conversation/format.ts'
import type { ResponsesEcho } from './echo.ts'
import { plain } from './plain.ts'
import { ResponsesReader } from './read-reply.ts'
import { readReasoning, readRequest, readStructure } from './read-request.ts'
import { replayResponse } from './replay.ts'
import { ResponsesWriter, writeReply } from './write-reply.ts'
import { writeRequest } from './write-request.ts'

export const responses: ConversationFormat<ResponsesEcho> = {
  readRequest,
  readReasoning,
  readStructure,
  plain,
  stopField: 'stop',
  place: index => `input[${index}]`,
  writeRequest,
  isReply: reply => Array.isArray(reply.output),
  replay: replayResponse,
  openReader: (sink, facts) => new ResponsesReader(sink, facts),
  openWriter: (echo, facts) => new ResponsesWriter(echo, facts),
  writeReply,
}
