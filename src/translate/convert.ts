/** Translates a call from the client's format to the upstream's, and applies the dialect of the upstream's model. */

import assert from 'node:assert/strict'
import type { ConversationFormat, WritableRequest } from '../conversation/format.ts'
import { pairResults } from '../conversation/pairing.ts'
import { ADAPTERS } from '../dialect/index.ts'
import type { Adapted } from '../dialect/types.ts'
import { FORMATS } from '../formats/index.ts'
import type { WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { ConvertedStream, convertReply, type ReplyConversion } from './converted-stream.ts'
import type { TranslationContext, Translator } from './translator.ts'

/**
 * Returns the translator between a client's format and an upstream's (its wire). `bodyFormat`: the format of the request's body,
 * if it is not the one in which the client reads the reply.
 */
export function translatorFor(clientFormat: WireName, wire: WireName, bodyFormat = clientFormat): Translator {
  const client: ConversationFormat = FORMATS[clientFormat]
  const upstream: ConversationFormat = FORMATS[wire]
  return (clientBody, context) => {
    const { body, betas, reply, echo } = convertRequest({ clientFormat, wire, bodyFormat }, clientBody, context)
    // `conversion` is kept until the reply ends, so it must not refer to the request body, which would stay in memory.
    const conversion: ReplyConversion = { client, upstream, echo, facts: reply, context }
    return {
      upstreamBody: body,
      upstreamBetas: betas,
      reply: (upstreamReply, bill) => convertReply(upstreamReply, conversion, bill),
      stream: onOutput => new ConvertedStream(conversion, onOutput),
    }
  }
}

interface Roads {
  /** The format in which the client reads the reply. */
  readonly clientFormat: WireName
  readonly wire: WireName
  /** The format of the request's body. Default: the client's. */
  readonly bodyFormat?: WireName
}

interface ConvertedRequest extends Adapted {
  /** What the writer of the client's reply needs to know about the request. */
  readonly echo: unknown
}

/** Converts a request. Throws GatewayError `invalid_request` if that would change its meaning. */
export function convertRequest(
  { clientFormat, wire, bodyFormat = clientFormat }: Roads,
  clientBody: JsonObject,
  context: TranslationContext,
): ConvertedRequest {
  const { openEnvelope, origin } = context.envelopes
  const facts = { openEnvelope, origin, toolsLeftOut: context.target.dialect.tools.leftOut }
  const { request, echo } = FORMATS[bodyFormat].readRequest(clientBody, facts)
  const turns = pairResults(request.turns, request.clientErrors)
  const adapted = write(FORMATS[wire], { ...request, turns }, { wire, context })
  if (bodyFormat === clientFormat) return { ...adapted, echo }
  const { echoOf } = FORMATS[clientFormat]
  assert(echoOf)
  return { ...adapted, echo: echoOf(request, clientBody) }
}

interface WriteCall {
  readonly wire: WireName
  readonly context: TranslationContext
}

/** Writes the request in the upstream's format, and adapts it to what the model accepts. */
function write(upstream: ConversationFormat, request: WritableRequest, call: WriteCall): Adapted {
  const { entry, target, betas, inputTokensEstimate, envelopes } = call.context
  const { body, places } = upstream.writeRequest(request, { model: target.model, dialect: target.dialect })
  return ADAPTERS[call.wire](body, {
    dialect: target.dialect,
    formatPath: 'converted',
    hasVision: entry.capabilities.includes('vision'),
    outputTokensMax: entry.outputTokensMax,
    contextTokens: entry.contextTokens,
    inputTokensEstimate,
    outputTokensAfforded: null,
    reasoning: request.reasoning,
    structure: request.structure,
    betas,
    stopField: request.clientErrors.stopField,
    place: index => places[index] ?? '',
    openEnvelope: envelopes.openEnvelope,
  })
}
