/** Translation: the client's format, the upstream's, and between them what the upstream's model takes. */

import type { ConversationFormat, WritableRequest } from '../conversation/format.ts'
import { pairResults } from '../conversation/pairing.ts'
import { planBetas } from '../dialect/betas.ts'
import type { ReplyFacts } from '../dialect/types.ts'
import { FORMATS } from '../formats/index.ts'
import type { WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { ConvertedStream, convertReply, type ReplyRoad } from './converted-stream.ts'
import { writeChatRequest } from './to-chat.ts'
import { writeMessagesRequest } from './to-messages.ts'
import type { TranslationContext, Translator } from './translator.ts'

/** From one format to another. */
export function translatorFor(clientFormat: WireName, wire: WireName): Translator {
  const client: ConversationFormat = FORMATS[clientFormat]
  const upstream: ConversationFormat = FORMATS[wire]
  return (clientBody, context) => {
    const { openMark, origin } = context.marks
    const facts = { openMark, origin, toolsLeftOut: context.target.dialect.tools.leftOut }
    const { request, echo } = client.readRequest(clientBody, facts)
    const turns = pairResults(request.turns, request.words)
    const { body, betas, reply } = write(wire, { ...request, turns }, context)
    // What reads the reply must not keep the body.
    const road: ReplyRoad = { client, upstream, echo, facts: reply, context }
    return {
      upstreamBody: body,
      upstreamBetas: betas,
      reply: (upstreamReply, bill) => convertReply(upstreamReply, road, bill),
      stream: onOutput => new ConvertedStream(road, onOutput),
    }
  }
}

interface Written {
  readonly body: JsonObject
  readonly betas: readonly string[]
  readonly reply: ReplyFacts
}

function write(wire: WireName, request: WritableRequest, context: TranslationContext): Written {
  if (wire !== 'messages') return { ...writeChatRequest(request, context), betas: [] }
  const { body, reply } = writeMessagesRequest(request, context)
  return { ...planBetas(body, context.betas, context.target.dialect.betas), reply }
}
