/**
 * Reasoning that a provider sealed, on its way through a client of another format. The client gets it in a mark of this
 * gateway's own, which says where it came from; a mark that was tampered with, and a seal of anybody else, is none.
 */

import { timingSafeEqual } from 'node:crypto'
import { type JsonValue, parseJson } from '../lib/json.ts'
import { keyedHash, type SecretSet } from '../lib/secrets.ts'

/** What a provider wants back with its reasoning, byte for byte. */
export type Seal =
  | { readonly wire: 'messages'; readonly signature: string }
  | { readonly wire: 'messages'; readonly redacted: string }
  | { readonly wire: 'responses'; readonly id: string | null; readonly encrypted: string }

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
