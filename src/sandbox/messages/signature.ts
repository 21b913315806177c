/** Signs thinking blocks. Clients must return them unchanged; altered or forged ones are refused. */

import { createHmac } from 'node:crypto'

const MARK = 'sandbox-thinking:'
/** Not a secret: it only ties a signature to the text it was made for. */
const KEY = 'sandbox'

/** The real provider's signatures are base64 of random-looking bytes, and begin with `E`. */
const REAL = /^E[A-Za-z0-9+/]{40,}={0,2}$/
const DISTINCT_BYTES_MIN = 16

export function signThinking(thinking: string): string {
  return Buffer.from(MARK + createHmac('sha256', KEY).update(thinking).digest('hex')).toString('base64')
}

/**
 * True for the sandbox's own signature of this text (or of text left out by `display: omitted`), and for anything that looks
 * like a signature of the real provider, because the conversation may have started at the real provider. False for other
 * vendors' signatures and for tokens in which a gateway wraps signatures: the real provider refuses them too.
 */
export function isAcceptedSignature(signature: string, thinking: string): boolean {
  const bytes = Buffer.from(signature, 'base64')
  if (bytes.toString('latin1').startsWith(MARK)) return thinking === '' || signature === signThinking(thinking)
  return REAL.test(signature) && new Set(bytes).size >= DISTINCT_BYTES_MIN
}
