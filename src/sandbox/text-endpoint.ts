/** Answers one call of a chat format: checks, understands, plans, sends. */

import type { Exchange } from './exchange.ts'
import { answeredByWords, sendGarbage } from './faults.ts'
import type { WireFormat } from './format.ts'
import { isObject, type JsonObject } from './json.ts'
import { invalid, type ModelFacts } from './model.ts'
import { planReply } from './plan.ts'
import { sendStream } from './stream.ts'
import { UnknownWordError } from './words.ts'

export type ModelLookup = (upstreamModel: string) => ModelFacts | null

/** Throws ProviderError for every refusal. */
export async function answerText(exchange: Exchange, format: WireFormat, lookUp: ModelLookup): Promise<void> {
  const body = parseBody(await exchange.body(), format)
  if (typeof body.model !== 'string' || body.model === '') throw invalid('model: Field required', { param: 'model' })
  const facts = lookUp(body.model)
  if (facts === null) throw format.modelNotFound(body.model)
  format.check(body, facts)
  const prompt = readPrompt(format, body, facts)
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
  const { firstTokenMs, tokensPerSecond } = exchange.pace
  const writing = tokensPerSecond > 0 ? (plan.usage.outputTokens * 1_000) / tokensPerSecond : 0
  await exchange.wait(Math.min(firstTokenMs + writing, exchange.limits.replyWaitMsMax))
  if (prompt.words.has('cut') || prompt.words.has('error-event')) return exchange.reset()
  if (!exchange.signal.aborted) exchange.json(200, format.reply(plan, context))
}

function readPrompt(format: WireFormat, body: JsonObject, facts: ModelFacts) {
  try {
    return format.read(body, facts)
  } catch (error) {
    if (error instanceof UnknownWordError) throw invalid(error.message)
    throw error
  }
}

export function parseBody(bytes: Buffer, format: Pick<WireFormat, 'fault'>): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw format.fault('json')
  }
  if (!isObject(body)) throw format.fault('json')
  return body
}
