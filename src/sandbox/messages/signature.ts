/** Signatures of thinking blocks: a client must send a block back as it came, and a forged one is refused. */

import { createHmac } from 'node:crypto'

const MARK = 'sandbox-thinking:'
/** No secret: it only ties a signature to its text. */
const KEY = 'sandbox'

export function signThinking(thinking: string): string {
  return Buffer.from(MARK + createHmac('sha256', KEY).update(thinking).digest('hex')).toString('base64')
}

/** True for a signature of this text, or of a text that was left out of the reply (`display: omitted`). */
export function isOwnSignature(signature: string, thinking: string): boolean {
  if (thinking === '') return Buffer.from(signature, 'base64').toString('latin1').startsWith(MARK)
  return signature === signThinking(thinking)
}
