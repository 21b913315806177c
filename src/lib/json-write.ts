/** Writes JSON without blocking the event loop for long: escaping long strings, the slowest part, is done in slices. */

import { randomUUID } from 'node:crypto'
import type { JsonValue } from './json.ts'
import { LONG_STRING_CHARACTERS_MIN } from './json-scan.ts'
import { inTurn } from './loop-turns.ts'

const SLICE_CHARACTERS = 1024 * 1024

export async function writeJson(value: JsonValue): Promise<Buffer> {
  const longTexts: string[] = []
  // Random, so that it cannot occur in the value.
  const mark = `${randomUUID()}:`
  const rest = await inTurn(() =>
    JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner !== 'string' || inner.length < LONG_STRING_CHARACTERS_MIN) return inner
      return `${mark}${longTexts.push(inner) - 1}`
    }),
  )
  if (longTexts.length === 0) return inTurn(() => Buffer.from(rest, 'utf8'))
  const [first = '', ...others] = rest.split(mark)
  const parts = [Buffer.from(first, 'utf8')]
  for (const other of others) {
    const digits = /^\d+/.exec(other)?.[0] ?? ''
    for (const slice of slicesOf(longTexts[Number(digits)] as string)) {
      parts.push(await inTurn(() => Buffer.from(JSON.stringify(slice).slice(1, -1), 'utf8')))
    }
    parts.push(await inTurn(() => Buffer.from(other.slice(digits.length), 'utf8')))
  }
  return inTurn(() => Buffer.concat(parts))
}

function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + SLICE_CHARACTERS, text.length)
    // Never splits a surrogate pair.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--
    yield text.slice(from, to)
    from = to
  }
}
