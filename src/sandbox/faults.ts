/** Carries out the `sandbox:` words of a prompt (see `words.ts`) that replace the reply. */

import type { Exchange } from './exchange.ts'
import type { ErrorFormat, FaultKind } from './format.ts'
import { ProviderError } from './model.ts'
import { type FoundWords, wordNumber } from './words.ts'

const PAGE =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'

/** Sends the special reply that a `sandbox:` word requests. Resolves with false if no word requests one. */
export async function answeredByWords(words: FoundWords, exchange: Exchange, format: ErrorFormat): Promise<boolean> {
  const kind = words.get('error')
  if (kind !== undefined) {
    const fault = format.fault(kind as FaultKind)
    const { status, type, message, param, code } = fault
    const retryAfterSeconds = wordNumber(words, 'retry-after')
    exchange.error(new ProviderError(status, type, message, { param, code, retryAfterSeconds }), format)
    return true
  }
  if (words.get('hang') === '') {
    await exchange.wait(exchange.limits.hangMsMax)
    exchange.reset()
    return true
  }
  if (words.has('reset')) {
    exchange.reset()
    return true
  }
  if (words.has('html')) {
    exchange.send(wordNumber(words, 'html') ?? 502, 'text/html; charset=utf-8', PAGE)
    return true
  }
  if (words.has('empty')) {
    exchange.send(200, 'application/json', '')
    return true
  }
  return false
}

/** Sends a malformed reply: truncated JSON, or a stream of malformed events. */
export function sendGarbage(exchange: Exchange, streamed: boolean): void {
  if (streamed)
    exchange.send(200, 'text/event-stream', 'data: {"id":"x","cho\n\ndata: \u0000\u0001 not json\n\nnonsense\n\n')
  else exchange.send(200, 'application/json', '{"id":"x","content":[{"type":"te')
}
