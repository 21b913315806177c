/** Detects words of the client in a provider's error, so that nobody can make an error look like another kind by its text. */

import { parseJson } from '../lib/json.ts'

/**
 * Whether the request contains these words, in any case. `request`: the body that was sent; JSON is decoded first, because
 * providers quote strings without their escapes. `words` are in lower case and need no escapes in JSON.
 */
export function saysInRequest(request: Buffer, words: string): boolean {
  const text = request.toString('utf8')
  const json = parseJson(text)
  return (json === undefined ? text : JSON.stringify(json)).toLowerCase().includes(words)
}
