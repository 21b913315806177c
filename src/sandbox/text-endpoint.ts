/** Answers one call in a chat format: checks and reads the request, then plans and sends the reply. */

import { lookUpModel, type ModelLookup, parseBody } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { answeredByWords, sendGarbage } from './faults.ts'
import type { WireFormat } from './format.ts'
import type { JsonObject } from './json.ts'
import { invalid } from './model.ts'
import { planReply } from './plan.ts'
import { EVENT_STREAM, sendStream } from './stream.ts'

export interface TextOptions {
  readonly lookUp: ModelLookup
  /** The model name and the streaming flag, for wire formats that carry them in the URL path; otherwise empty. */
  readonly fromPath: JsonObject
}

/** Answers one call. Rejects with ProviderError if the request is refused. */
export async function answerText(exchange: Exchange, format: WireFormat, options: TextOptions): Promise<void> {
  const sent = parseBody(await exchange.body(), format)
  for (const field of Object.keys(options.fromPath)) {
    if (Object.hasOwn(sent, field))
      throw invalid(`Malformed input request: #: extraneous key [${field}] is not permitted`)
  }
  const body = { ...sent, ...options.fromPath }
  const facts = lookUpModel(body, 'chat', options.lookUp, format)
  format.check(body, facts)
  const prompt = format.read(body, facts)
  if (await answeredByWords(prompt.words, exchange, format)) return
  const streamed = body.stream === true
  if (prompt.words.has('garbage')) return sendGarbage(exchange, streamed)
  const plan = planReply(prompt, exchange.limits)
  const context = { body, facts, nowSeconds: Math.floor(Date.now() / 1_000) }
  exchange.response.setHeader(format.requestIdHeader, exchange.requestId)
  if (streamed) {
    return await sendStream(exchange, format.stream(plan, context), {
      words: prompt.words,
      errorEvent: format.errorEvent(),
      contentType: format.streamContentType ?? EVENT_STREAM,
    })
  }
  await exchange.waitFor(plan.usage.outputTokens)
  if (prompt.words.has('cut') || prompt.words.has('error-event')) return exchange.reset()
  if (!exchange.signal.aborted) exchange.json(200, format.reply(plan, context))
}
