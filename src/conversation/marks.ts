/** Writes and reads marks of sealed reasoning. A mark holds the seal, its origin and the lengths of the text's pieces. */

import { arrayOrEmpty, isObject, type JsonValue, textOrNull } from '../lib/json.ts'
import type { ReadFacts } from './format.ts'
import type { ReasoningPart } from './request.ts'
import type { Seal } from './seal.ts'

/** Separates the pieces of reasoning when they are joined into one text. */
export const PIECES_APART = '\n\n'

export function markPayload(seal: Seal, origin: string, lengths: readonly number[]): JsonValue {
  return { origin, seal: { ...seal }, lengths: [...lengths] }
}

/**
 * Takes `text`, reasoning that a client has sent back, and splits it into the original pieces, which PIECES_APART separates.
 * Ignores marks that this gateway did not issue, and seals that other upstreams made.
 */
export function markedReasoning(text: string, mark: string | null, facts: ReadFacts): ReasoningPart {
  const [part = { kind: 'reasoning', texts: [], seal: null }] = markedReasonings(
    text,
    mark === null ? [] : [mark],
    facts,
  )
  return part
}

/** Like `markedReasoning`, for several marks that belong to one text; empty if there is neither text nor mark. */
export function markedReasonings(
  text: string,
  marks: readonly string[],
  { openMark, origin }: ReadFacts,
): ReasoningPart[] {
  const payloads = marks.map(openMark).filter(isObject)
  const lengths = payloads.map(payload => arrayOrEmpty(payload.lengths))
  const pieces = cut(text, lengths.flat())
  if (payloads.length === 0) return text === '' ? [] : [{ kind: 'reasoning', texts: [text], seal: null }]
  let at = 0
  const parts = payloads.map((payload, index): ReasoningPart => {
    const count = lengths[index]!.length
    // `pieces` is null if the client changed or omitted the text, so that it no longer matches what was sealed.
    const texts = pieces === null ? (index === 0 && text !== '' ? [text] : []) : pieces.slice(at, at + count)
    at += count
    const seal = payload.origin === origin ? readSeal(payload.seal) : null
    // A `messages` signature is valid only for the exact text.
    return { kind: 'reasoning', texts, seal: pieces === null && seal?.wire === 'messages' ? null : seal }
  })
  const rest = pieces?.slice(at) ?? []
  return rest.length === 0 ? parts : [...parts, { kind: 'reasoning', texts: rest, seal: null }]
}

/**
 * Splits the text into pieces of these lengths; null if they do not match the text. Any remaining text becomes one more piece.
 */
function cut(text: string, lengths: readonly JsonValue[]): string[] | null {
  const texts: string[] = []
  let at = 0
  for (const length of lengths) {
    if (typeof length !== 'number') return null
    if (texts.length > 0) at += PIECES_APART.length
    texts.push(text.slice(at, at + length))
    at += length
  }
  if (at > text.length) return null
  if (at === text.length) return texts
  const rest = texts.length === 0 ? text : text.startsWith(PIECES_APART, at) && text.slice(at + PIECES_APART.length)
  return rest ? [...texts, rest] : null
}

function readSeal(value: JsonValue | undefined): Seal | null {
  if (!isObject(value)) return null
  const { wire, signature, redacted, id, encrypted } = value
  if (wire === 'messages' && typeof signature === 'string') return { wire, signature }
  if (wire === 'messages' && typeof redacted === 'string') return { wire, redacted }
  if (wire === 'responses' && typeof encrypted === 'string') return { wire, id: textOrNull(id), encrypted }
  return null
}
