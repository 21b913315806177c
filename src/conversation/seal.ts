/**
 * Carries sealed reasoning through clients of other formats. The client gets the provider's seal inside a mark: a token signed by
 * this gateway that also names the seal's origin. Forged or altered marks, and seals of other origins, are ignored.
 */

import { timingSafeEqual } from 'node:crypto'
import { type ByteText, encodeText, toBuffer } from '../lib/byte-text.ts'
import { type JsonValue, parseJson } from '../lib/json.ts'
import { keyedHash, type SecretSet } from '../lib/secrets.ts'

/** Data that a provider needs back with its reasoning, byte for byte. */
export type Seal =
  | { readonly wire: 'messages'; readonly signature: string }
  | { readonly wire: 'messages'; readonly redacted: string }
  | { readonly wire: 'responses'; readonly id: string | null; readonly encrypted: string }

/** Writes payloads into marks (signed tokens), and reads the payloads of marks that it has issued. */
export interface Sealer {
  /** Returns a mark for the payload, which consists of letters, digits, `_`, `-` and `.` only. */
  seal(payload: JsonValue): string
  /** Like `seal`, for a payload that is already serialized. */
  sealJson(json: ByteText): string
  /** Returns the payload of a mark; null for any text that this gateway did not issue for this account. Never throws. */
  open(text: string): JsonValue | null
}

/** Distinguishes marks from providers' own seals: OpenAI's begin with `gAAAA`, Anthropic's with `E`. */
const PREFIX = 'gwm1.'
const MAC_BYTES = 16
const MARK = /^gwm1\.(\d{1,5})\.([\w-]+)\.([\w-]{22})$/
/** Longest mark that is accepted, in characters. A provider's seal may contain reasoning as long as the output cap allows. */
export const MARK_LENGTH_MAX = 1024 * 1024

/** Whether the text looks like one of this gateway's marks, valid or not. Such text must never be sent to a provider. */
export function isMark(text: string): boolean {
  return text.startsWith(PREFIX)
}

/**
 * Makes a sealer whose marks are valid for one account only. It signs with the current key and verifies with any key of the
 * set, so that marks survive a key rotation. Clients can read a mark's content but cannot change it.
 */
export function makeSealer(keys: SecretSet, account: string): Sealer {
  const signed = (keyId: number, content: string) => `gateway/mark/v1|${account}|${keyId}|${content}`
  const macOf = (secret: Buffer, keyId: number, content: string) =>
    keyedHash(secret, signed(keyId, content)).subarray(0, MAC_BYTES)
  function sealJson(json: ByteText): string {
    const { currentId } = keys
    const content = toBuffer(json).toString('base64url')
    const mac = macOf(keys.secrets.get(currentId)!, currentId, content)
    return `${PREFIX}${currentId}.${content}.${mac.toString('base64url')}`
  }
  return {
    seal: payload => sealJson(encodeText(JSON.stringify(payload))),
    sealJson,
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
