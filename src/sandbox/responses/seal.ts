/**
 * Imitates encrypted reasoning (`encrypted_content`). The tokens look like the real provider's, but the sandbox only accepts
 * tokens that it has issued.
 */

import { createHmac } from 'node:crypto'

const START = 'gAAAAAB'
/** This key is not secret. It only distinguishes the sandbox's own tokens from other texts. */
const KEY = 'sandbox'

/** Returns a token for the text. The salt makes tokens for the same text differ, as the real provider's do. */
export function seal(reasoning: string, salt: string): string {
  const body = Buffer.from(`${salt}:${reasoning}`).toString('base64url')
  return `${START}${sum(body)}${body}`
}

export function isSeal(text: string): boolean {
  const end = START.length + sum('').length
  return text.startsWith(START) && text.slice(START.length, end) === sum(text.slice(end))
}

function sum(body: string): string {
  return createHmac('sha256', KEY).update(body).digest('base64url').slice(0, 22)
}
