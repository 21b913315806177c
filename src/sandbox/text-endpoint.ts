/** Answers one call of a chat format: checks, understands, plans, sends. */

import { lookUpModel, type ModelLookup, parseBody } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { answeredByWords, sendGarbage } from './faults.ts'
import type { WireFormat } from './format.ts'
import { planReply } from './plan.ts'
import { sendStream } from './stream.ts'

/** Throws ProviderError for every refusal. */
export async function answerText(exchange: Exchange, format: WireFormat, lookUp: ModelLookup): Promise<void> {
  const body = parseBody(await exchange.body(), format)
  const facts = lookUpModel(body, 'chat', lookUp, format)
  format.check(body, facts)
  const prompt = format.read(body, facts)
  if (await answeredByWords(prompt.words, exchange, format)) return
  const streamed = body.stream === true
  if (prompt.words.has('garbage')) return sendGarbage(exchange, streamed)
  const plan = planReply(prompt, exchange.limits)
  const context = { body, nowSeconds: Math.floor(Date.now() / 1_000) }
  exchange.response.setHeader(format.requestIdHeader, exchange.requestId)
  if (streamed) {
    const options = { words: prompt.words, errorEvent: format.errorEvent() }
    return await sendStream(exchange, format.stream(plan, context), options)
  }
  await exchange.waitFor(plan.usage.outputTokens)
  if (prompt.words.has('cut') || prompt.words.has('error-event')) return exchange.reset()
  if (!exchange.signal.aborted) exchange.json(200, format.reply(plan, context))
}
