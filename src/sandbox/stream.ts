/**
 * Sends a stream at a model's pace, and breaks it off halfway if a `sandbox:` word in the prompt (see words.ts) asks for that.
 */

import { once } from 'node:events'
import type { Exchange } from './exchange.ts'
import type { StreamStep } from './model.ts'
import { type FoundWords, wordNumber } from './words.ts'

export interface StreamOptions {
  readonly words: FoundWords
  readonly errorEvent: string | Buffer
  readonly contentType: string
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8'

const BREAKING_WORDS = ['cut', 'error-event', 'hang'] as const
const SLOW_TOKENS_PER_SECOND = 2
/** Delay before a reset, so that data sent earlier still arrives. */
const BEFORE_RESET_MS = 30

/**
 * Resolves when everything is sent, when the client disconnects, or after a requested fault. Never rejects because the client
 * disconnected.
 */
export async function sendStream(
  exchange: Exchange,
  steps: Iterable<StreamStep>,
  options: StreamOptions,
): Promise<void> {
  const { response, signal } = exchange
  response.writeHead(200, {
    'content-type': options.contentType,
    'cache-control': 'no-cache',
  })
  const pace = paceOf(exchange, options.words)
  const isBroken = BREAKING_WORDS.some(word => options.words.has(word))
  const all = isBroken ? [...steps] : null
  const breakAt = all === null ? -1 : Math.floor(all.length / 2)
  const startedAt = performance.now()
  let tokens = 0
  let index = 0
  response.flushHeaders()
  for (const step of all ?? steps) {
    if (index === breakAt) return await breakOff(exchange, options)
    index += 1
    if (pace.tokensPerSecond > 0) {
      const due = startedAt + pace.firstTokenMs + (tokens * 1_000) / pace.tokensPerSecond
      await exchange.wait(due - performance.now())
    }
    if (signal.aborted) return
    tokens += step.tokens
    if (!response.write(step.wire)) await once(response, 'drain', { signal }).catch(() => {})
    if (signal.aborted) return
  }
  response.end()
}

function paceOf(exchange: Exchange, words: FoundWords) {
  if (!words.has('slow')) return exchange.pace
  return {
    firstTokenMs: exchange.pace.firstTokenMs,
    tokensPerSecond: wordNumber(words, 'slow') || SLOW_TOKENS_PER_SECOND,
  }
}

async function breakOff(exchange: Exchange, { words, errorEvent }: StreamOptions): Promise<void> {
  const { response } = exchange
  if (words.has('error-event')) {
    response.end(errorEvent)
    return
  }
  if (words.get('cut') === '') {
    response.end()
    return
  }
  await exchange.wait(words.has('cut') ? BEFORE_RESET_MS : exchange.limits.hangMsMax)
  exchange.reset()
}
