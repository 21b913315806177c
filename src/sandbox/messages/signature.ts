/** Signatures of thinking blocks. Clients must return blocks unchanged; altered or forged ones are refused. */

import { createHmac } from 'node:crypto'

const MARK = 'sandbox-thinking:'
/** Not a secret: it only ties a signature to its text. */
const KEY = 'sandbox'

/** The real provider's signatures are base64 that begins with `E`, of random-looking bytes. */
const REAL = /^E[A-Za-z0-9+/]{40,}={0,2}$/
const DISTINCT_BYTES_MIN = 16

export function signThinking(thinking: string): string {
  return Buffer.from(MARK + createHmac('sha256', KEY).update(thinking).digest('hex')).toString('base64')
}

/**
 * True for the sandbox's own signature of this text (or of text left out by `display: omitted`), and for signatures that
 * look like the real provider's, because the conversation may have started there. False for seals of other vendors or of a
 * gateway, which the real provider refuses too.
 */
export function isAcceptedSignature(signature: string, thinking: string): boolean {
  const bytes = Buffer.from(signature, 'base64')
  if (bytes.toString('latin1').startsWith(MARK)) return thinking === '' || signature === signThinking(thinking)
  return REAL.test(signature) && new Set(bytes).size >= DISTINCT_BYTES_MIN
}
