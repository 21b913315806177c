/**
 * Writes and reads envelopes: signed tokens in which a provider's sealed reasoning passes through clients of other formats (see
 * `envelope.ts`). An envelope contains the seal, the upstream that sealed it, and the lengths of the reasoning's pieces.
 */

import { arrayOrEmpty, isObject, type JsonValue, textOrNull } from '../lib/json.ts'
import type { Seal } from './envelope.ts'
import type { ReadFacts } from './format.ts'
import type { ReasoningPart } from './request.ts'

/** Separator between pieces of reasoning that are joined into one text. */
export const PIECE_SEPARATOR = '\n\n'

export function envelopePayload(seal: Seal, origin: string, lengths: readonly number[]): JsonValue {
  return { origin, seal: { ...seal }, lengths: [...lengths] }
}

/**
 * Restores reasoning that a client has sent back: splits `text` into its original pieces, by the lengths in the envelope, and
 * extracts the seal. Ignores envelopes that this gateway did not issue, and seals of any upstream but the request's own.
 */
export function unwrappedReasoning(text: string, envelope: string | null, facts: ReadFacts): ReasoningPart {
  const [part = { kind: 'reasoning', texts: [], seal: null }] = unwrappedReasonings(
    text,
    envelope === null ? [] : [envelope],
    facts,
  )
  return part
}

/**
 * Like `unwrappedReasoning`, for a text whose pieces belong to several envelopes. Returns an empty list if there is no text and
 * no envelope is valid.
 */
export function unwrappedReasonings(
  text: string,
  envelopes: readonly string[],
  { openEnvelope, origin }: ReadFacts,
): ReasoningPart[] {
  const payloads = envelopes.map(openEnvelope).filter(isObject)
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
 * Splits the text into pieces of these lengths; any remaining text becomes one more piece. Returns null if the lengths do not
 * match the text.
 */
function cut(text: string, lengths: readonly JsonValue[]): string[] | null {
  const texts: string[] = []
  let at = 0
  for (const length of lengths) {
    if (typeof length !== 'number') return null
    if (texts.length > 0) at += PIECE_SEPARATOR.length
    texts.push(text.slice(at, at + length))
    at += length
  }
  if (at > text.length) return null
  if (at === text.length) return texts
  const rest =
    texts.length === 0 ? text : text.startsWith(PIECE_SEPARATOR, at) && text.slice(at + PIECE_SEPARATOR.length)
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
