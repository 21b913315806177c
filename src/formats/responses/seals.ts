/**
 * Recovers when a provider cannot decrypt the reasoning (the seals) of earlier turns: recognises the error, and removes the
 * reasoning from the request.
 */

import type { ErrorBody } from '../../conversation/error-body.ts'
import type { RefusedSeal } from '../../generated/types.ts'
import { ascii, byteText, concat, joinBytes, parseUndecoded, toBuffer } from '../../lib/byte-text.ts'
import { arrayOrEmpty, isObject } from '../../lib/json.ts'
import { elementsOf, membersOf } from '../../lib/json-text.ts'

/** OpenAI's error code for reasoning that it cannot decrypt. */
const CODE = 'invalid_encrypted_content'
const MESSAGES = [
  // Azure's message for reasoning that it cannot decrypt; it sends no code (openai/openai-agents-python#2063).
  /encrypted content\b.{0,200}\bcould not be (verified|decrypted|parsed)/is,
  // OpenAI's and Azure's message if the item that must follow the reasoning is missing (Responses API, read 2026-11).
  /\breasoning\b.{0,200}\bwas provided without its required following item/is,
]

/**
 * Whether an error rejects the reasoning that the client sent back, rather than anything else in the request. `fact`: how the
 * provider's error looks; null if not configured.
 */
export function refusesSeals(status: number, error: ErrorBody, fact: RefusedSeal | null): boolean {
  if (fact !== null && isMeant(status, error, fact)) return true
  return status === 400 && (error.code === CODE || MESSAGES.some(message => message.test(error.message)))
}

function isMeant(status: number, error: ErrorBody, fact: RefusedSeal): boolean {
  const code = fact.code ?? null
  const message = fact.message ?? null
  // With neither code nor message, `fact` would match any error of this status.
  if (fact.status !== status || (code === null && message === null)) return false
  if (code !== null && code.toLowerCase() !== error.code) return false
  return message === null || error.message.toLowerCase().includes(message.toLowerCase())
}

/** Returns the body without its reasoning items; all other items stay unchanged, byte for byte. Null if it has none. */
export function withoutSeals(body: Buffer): Buffer | null {
  const text = byteText(body)
  const json = parseUndecoded(text)
  const items = arrayOrEmpty(isObject(json) ? json.input : undefined)
  const kept = items.map(item => !(isObject(item) && item.type === 'reasoning'))
  const member = membersOf(text).find(({ key }) => key === 'input')
  if (member === undefined || !kept.includes(false)) return null
  const elements = elementsOf(text, member.valueStart).filter((_, index) => kept[index])
  const input = elements.map(({ start, end }) => text.slice(start, end))
  const [before, after] = [text.slice(0, member.valueStart), text.slice(member.valueEnd)]
  return toBuffer(concat(before, ascii('['), joinBytes(input, ','), ascii(']'), after))
}
