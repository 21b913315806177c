/** Random secrets for cookies and links: 256 bits each, stored only as SHA-256 hashes. */

import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

export function isToken(text: string | null | undefined): text is string {
  return text != null && TOKEN.test(text)
}

/** Returns the hash as hexadecimal. Null for text that cannot be a token, so that only well-formed tokens are looked up. */
export function hashToken(token: string): string | null {
  return isToken(token) ? createHash('sha256').update(token, 'utf8').digest('hex') : null
}
