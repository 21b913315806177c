/** Recovers from sealed reasoning that a provider cannot open: recognises the provider's error, and removes the reasoning. */

import type { ErrorBody } from '../../conversation/error-body.ts'
import type { RefusedSeal } from '../../generated/types.ts'
import { ascii, byteText, concat, joinBytes, parseUndecoded, toBuffer } from '../../lib/byte-text.ts'
import { arrayOrEmpty, isObject } from '../../lib/json.ts'
import { elementsOf, membersOf } from '../../lib/json-text.ts'

/**
 * How several providers refuse reasoning. If a seal cannot be opened, OpenAI sends the code, and Azure only the first text
 * (openai/openai-agents-python#2063). Both send the second text for reasoning that is not followed by its item (Responses API,
 * read 2026-11).
 */
const CODE = 'invalid_encrypted_content'
const TEXTS = [
  /encrypted content\b.{0,200}\bcould not be (verified|decrypted|parsed)/is,
  /\breasoning\b.{0,200}\bwas provided without its required following item/is,
]

/**
 * Whether an error refuses the reasoning that the client sent back, rather than anything else in the request. `fact`: how the
 * provider refuses it; null if not configured.
 */
export function refusesSeals(status: number, error: ErrorBody, fact: RefusedSeal | null): boolean {
  if (fact !== null && isMeant(status, error, fact)) return true
  return status === 400 && (error.code === CODE || TEXTS.some(text => text.test(error.message)))
}

function isMeant(status: number, error: ErrorBody, fact: RefusedSeal): boolean {
  const code = fact.code ?? null
  const message = fact.message ?? null
  // With neither code nor message, `fact` would match any error of this status.
  if (fact.status !== status || (code === null && message === null)) return false
  if (code !== null && code.toLowerCase() !== error.code) return false
  return message === null || error.message.toLowerCase().includes(message.toLowerCase())
}

/** Returns the body without reasoning items; other items keep their bytes. Null if there are none to remove. */
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
