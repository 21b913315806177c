/** Numbered secrets from the environment, keyed hashes and sealed values. Nothing in this file ever prints a secret. */

import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { type ByteText, byteText, concat, encodeText, ofCharacters, toBuffer } from './byte-text.ts'

const SECRET_BYTES = 32
/** Block size of SHA-256. */
const BLOCK_BYTES = 64
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_MAX = 32_767

/** The secrets for one purpose, by number. All of them decrypt and verify; only the current one encrypts and signs. */
export interface SecretSet {
  /** Number of the current secret: the highest number that is not on standby. */
  readonly currentId: number
  readonly secrets: ReadonlyMap<number, Buffer>
}

export interface SealedValue {
  readonly keyId: number
  /** 12 random bytes. */
  readonly iv: Buffer
  /** The ciphertext, then the 16-byte authentication tag. */
  readonly ciphertext: Buffer
}

/**
 * Reads `1:<base64>,2:<base64>:standby`, in which each secret is 32 bytes in base64 or base64url. A standby secret only
 * decrypts and verifies, so that it can be given to every process before any of them encrypts or signs with it. Throws an Error
 * that names the variable and the fault, but never the value.
 */
export function parseSecretSet(variable: string, text: string): SecretSet {
  const secrets = new Map<number, Buffer>()
  let currentId = 0
  const advice = `write ${variable}=1:<32 bytes in base64>, e.g. from \`openssl rand -base64 32\``
  for (const [index, part] of text.split(',').entries()) {
    const place = `${variable}: part ${index + 1}`
    const found = /^\s*(\d{1,5}):([A-Za-z0-9+/_-]+={0,2})(:standby)?\s*$/.exec(part)
    if (found === null) throw new Error(`${place} is not in the form <number>:<base64>; ${advice}`)
    const keyId = Number(found[1])
    if (keyId < 1 || keyId > KEY_ID_MAX)
      throw new Error(`${place}: key number ${keyId} is out of range; use 1 to ${KEY_ID_MAX}`)
    if (secrets.has(keyId)) throw new Error(`${place} repeats the number ${keyId}; give each secret its own`)
    const secret = Buffer.from(found[2]!, 'base64')
    if (secret.length !== SECRET_BYTES)
      throw new Error(`${place} decodes to ${secret.length} bytes instead of 32; ${advice}`)
    secrets.set(keyId, secret)
    if (found[3] === undefined) currentId = Math.max(currentId, keyId)
  }
  if (currentId === 0) throw new Error(`${variable} has only secrets on standby; remove \`:standby\` from one of them`)
  return { currentId, secrets }
}

/** Generates one secret in the form that parseSecretSet reads; for development. */
export function generateSecretSet(): string {
  return `1:${randomBytes(SECRET_BYTES).toString('base64')}`
}

interface Pads {
  readonly inner: ByteText
  readonly outer: ByteText
}

const padsOfSecrets = new WeakMap<Buffer, Pads>()

/** The secret combined with the two pads of HMAC (RFC 2104). */
function padsOf(secret: Buffer): Pads {
  const known = padsOfSecrets.get(secret)
  if (known !== undefined) return known
  assert(secret.length <= BLOCK_BYTES)
  const padded = (pad: number) => {
    return byteText(Buffer.from(Array.from({ length: BLOCK_BYTES }, (_, at) => pad ^ (secret[at] ?? 0))))
  }
  const pads = { inner: padded(0x36), outer: padded(0x5c) }
  padsOfSecrets.set(secret, pads)
  return pads
}

function sha256(bytes: ByteText): ByteText {
  return ofCharacters(hash('sha256', toBuffer(bytes), 'latin1'))
}

/** HMAC-SHA-256, 32 bytes, with a secret of at most 64. The object that `createHmac` makes would cost more than the hash. */
export function keyedHash(secret: Buffer, text: string): Buffer {
  const { inner, outer } = padsOf(secret)
  return toBuffer(sha256(concat(outer, sha256(concat(inner, encodeText(text))))))
}

/**
 * Encrypts with AES-256-GCM under the current secret. `bind` identifies the row that the value belongs to, and `open` refuses
 * the value in any other row.
 */
export function seal(set: SecretSet, plaintext: string, bind: (keyId: number) => string): SealedValue {
  const keyId = set.currentId
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', set.secrets.get(keyId)!, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(bind(keyId), 'utf8'))
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { keyId, iv, ciphertext }
}

/**
 * Decrypts a sealed value. Throws an Error when its secret is missing, or when it was altered, truncated or moved to another
 * row.
 */
export function open(set: SecretSet, sealed: SealedValue, bind: (keyId: number) => string): string {
  const secret = set.secrets.get(sealed.keyId)
  if (secret === undefined) throw new Error(`the encryption key number ${sealed.keyId} is not configured`)
  if (sealed.iv.length !== IV_BYTES || sealed.ciphertext.length < TAG_BYTES)
    throw new Error('the sealed value is damaged')
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(bind(sealed.keyId), 'utf8'))
  decipher.setAuthTag(sealed.ciphertext.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.ciphertext.subarray(0, -TAG_BYTES)), decipher.final()]).toString(
      'utf8',
    )
  } catch {
    throw new Error('the sealed value is damaged or belongs to another row')
  }
}
