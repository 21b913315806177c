/**
 * Carries sealed reasoning through clients of other formats. The client gets the provider's seal inside an envelope: a token
 * signed by this gateway that also names the seal's origin. Forged or altered envelopes, and seals of other origins, are
 * ignored.
 */

import { timingSafeEqual } from 'node:crypto'
import { type ByteText, encodeText, toBuffer } from '../lib/byte-text.ts'
import { type JsonValue, parseJson } from '../lib/json.ts'
import { keyedHash, type SecretSet } from '../lib/secrets.ts'

/** The provider's signature or encrypted reasoning, which it needs back byte for byte. */
export type Seal =
  | { readonly wire: 'messages'; readonly signature: string }
  | { readonly wire: 'messages'; readonly redacted: string }
  | { readonly wire: 'responses'; readonly id: string | null; readonly encrypted: string }

/** Writes payloads into envelopes (signed tokens), and reads the payloads of envelopes that it has issued. */
export interface EnvelopeSigner {
  /** Returns an envelope for the payload, which consists of letters, digits, `_`, `-` and `.` only. */
  wrap(payload: JsonValue): string
  /** Like `wrap`, for a payload that is already serialized. */
  wrapJson(json: ByteText): string
  /** Returns the payload of an envelope; null for any text that this gateway did not issue for this account. Never throws. */
  open(text: string): JsonValue | null
}

/** Distinguishes envelopes from providers' own seals: OpenAI's begin with `gAAAA`, Anthropic's with `E`. */
const PREFIX = 'gwm1.'
const MAC_BYTES = 16
const ENVELOPE = /^gwm1\.(\d{1,5})\.([\w-]+)\.([\w-]{22})$/
/**
 * Longest envelope that is accepted, in characters. A provider's seal may contain reasoning as long as the output cap allows.
 */
export const ENVELOPE_LENGTH_MAX = 1024 * 1024

/** Whether the text looks like one of this gateway's envelopes, valid or not. Such text must never be sent to a provider. */
export function isEnvelope(text: string): boolean {
  return text.startsWith(PREFIX)
}

/**
 * Makes a signer whose envelopes are valid for one account only. It signs with the current key and verifies with any key of the
 * set, so that envelopes survive a key rotation. Clients can read an envelope's content but cannot change it.
 */
export function makeEnvelopeSigner(keys: SecretSet, account: string): EnvelopeSigner {
  const signed = (keyId: number, content: string) => `gateway/mark/v1|${account}|${keyId}|${content}`
  const macOf = (secret: Buffer, keyId: number, content: string) =>
    keyedHash(secret, signed(keyId, content)).subarray(0, MAC_BYTES)
  function wrapJson(json: ByteText): string {
    const { currentId } = keys
    const content = toBuffer(json).toString('base64url')
    const mac = macOf(keys.secrets.get(currentId)!, currentId, content)
    return `${PREFIX}${currentId}.${content}.${mac.toString('base64url')}`
  }
  return {
    wrap: payload => wrapJson(encodeText(JSON.stringify(payload))),
    wrapJson,
    open(text) {
      if (!isEnvelope(text) || text.length > ENVELOPE_LENGTH_MAX) return null
      const [, keyId = '', content = '', mac = ''] = ENVELOPE.exec(text) ?? []
      const secret = keys.secrets.get(Number(keyId))
      if (secret === undefined) return null
      const given = Buffer.from(mac, 'base64url')
      if (given.length !== MAC_BYTES || !timingSafeEqual(given, macOf(secret, Number(keyId), content))) return null
      return parseJson(Buffer.from(content, 'base64url').toString('utf8')) ?? null
    },
  }
}
