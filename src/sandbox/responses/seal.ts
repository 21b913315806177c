/** Seals reasoning. The seals look like the real provider's, but only the sandbox's own can be opened here. */

import { createHmac } from 'node:crypto'

const START = 'gAAAAAB'
/** This key is not secret. It only distinguishes the sandbox's seals from other texts. */
const KEY = 'sandbox'

/** Seals a text. The salt makes seals of the same text differ, as the real provider's do. */
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
