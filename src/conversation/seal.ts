/**
 * Reasoning that a provider sealed, on its way through a client of another format. The client gets it in a mark of this
 * gateway's own, which says where it came from; a mark that was tampered with, and a seal of anybody else, is none.
 */

import { timingSafeEqual } from 'node:crypto'
import { arrayOrEmpty, isObject, type JsonValue, parseJson } from '../lib/json.ts'
import { keyedHash, type SecretSet } from '../lib/secrets.ts'

/** What a provider wants back with its reasoning, byte for byte. */
export type Seal = SealedContent & {
  /** Who can open it: upstream and credential group. Absent in a reply as its reader tells it. */
  readonly origin?: string
}

type SealedContent =
  | { readonly wire: 'messages'; readonly signature: string }
  | { readonly wire: 'messages'; readonly redacted: string }
  | {
      readonly wire: 'responses'
      readonly id: string | null
      readonly encrypted: string
      /** Lengths of the texts beside it, where the client's format has one text for all: they go back as they came. */
      readonly pieces?: number[]
    }

/** Makes marks, and takes apart those that it made. */
export interface Sealer {
  /** Letters, digits, `_`, `-` and `.` only. */
  seal(payload: JsonValue): string
  /** Null for anything that this gateway has not made for this account. Never throws. */
  open(text: string): JsonValue | null
}

/** No provider's seal begins so: those of OpenAI begin with `gAAAA`, those of Anthropic with `E`. */
const PREFIX = 'gwm1.'
const MAC_BYTES = 16
const MARK = /^gwm1\.(\d{1,5})\.([\w-]+)\.([\w-]{22})$/
/** Longest mark that is opened, in characters. A provider's seal holds the whole reasoning, in tokens up to the output cap. */
export const MARK_LENGTH_MAX = 1024 * 1024

/** Looks like a mark of this gateway, sound or not: no provider has any use for it. */
export function isMark(text: string): boolean {
  return text.startsWith(PREFIX)
}

/**
 * Marks for one account: another one's do not open. They are signed under the current key, and open under every key of the
 * set, so that they outlive a rotation. What they hold can be read by the client, and not changed.
 */
export function makeSealer(keys: SecretSet, account: string): Sealer {
  const signed = (keyId: number, content: string) => `gateway/mark/v1|${account}|${keyId}|${content}`
  const macOf = (secret: Buffer, keyId: number, content: string) =>
    keyedHash(secret, signed(keyId, content)).subarray(0, MAC_BYTES)
  return {
    seal(payload) {
      const { currentId } = keys
      const content = Buffer.from(JSON.stringify(payload), 'utf8').toString('base64url')
      const mac = macOf(keys.secrets.get(currentId)!, currentId, content)
      return `${PREFIX}${currentId}.${content}.${mac.toString('base64url')}`
    },
    open(text) {
      if (!isMark(text) || text.length > MARK_LENGTH_MAX) return null
      const [, keyId = '', content = '', mac = ''] = MARK.exec(text) ?? []
      const secret = keys.secrets.get(Number(keyId))
      if (secret === undefined) return null
      const given = Buffer.from(mac, 'base64url')
      if (given.length !== MAC_BYTES || !timingSafeEqual(given, macOf(secret, Number(keyId), content))) return null
      return parseJson(Buffer.from(content, 'base64url').toString('utf8')) ?? null
    },
  }
}

/** What a mark says that holds a seal; marks may hold other things, which have other kinds. */
export function sealPayload(seal: Seal, origin: string): JsonValue {
  return { kind: 'seal', ...seal, origin }
}

/** The seal in a mark. Null for text that is no mark, or one that holds something else: it is left out. */
export function sealIn(text: JsonValue | undefined, openMark: (text: string) => JsonValue | null): Seal | null {
  const payload = typeof text === 'string' ? openMark(text) : null
  if (!isObject(payload) || payload.kind !== 'seal' || typeof payload.origin !== 'string') return null
  const { wire, origin, signature, redacted, id, encrypted, pieces } = payload
  if (wire === 'messages' && typeof signature === 'string') return { wire, signature, origin }
  if (wire === 'messages' && typeof redacted === 'string') return { wire, redacted, origin }
  if (wire !== 'responses' || typeof encrypted !== 'string') return null
  const lengths = arrayOrEmpty(pieces).filter(length => typeof length === 'number')
  return {
    wire,
    id: typeof id === 'string' ? id : null,
    encrypted,
    ...(lengths.length > 0 && { pieces: lengths }),
    origin,
  }
}

/** Stands between the texts of one reasoning where a client's format has one text for all. */
export const PIECE_BREAK = '\n\n'

/** The texts that were joined by `PIECE_BREAK`; the text as one where it is another by now. */
export function splitPieces(text: string, pieces: readonly number[]): readonly string[] {
  const texts: string[] = []
  let at = 0
  for (const length of pieces) {
    texts.push(text.slice(at, at + length))
    at += length + PIECE_BREAK.length
  }
  return texts.join(PIECE_BREAK) === text ? texts : [text]
}
