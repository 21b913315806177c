/**
 * Simulates a device with a passkey (a key pair on P-256 with attestation "none") and the browser that uses it. A test can make
 * it lie about anything that an attacker could forge.
 */

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly [name: string]: unknown
}

export interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
  readonly [name: string]: unknown
}

interface Lie {
  readonly origin?: string
  readonly challenge?: string
  /** True if the device does not verify its user, for example by a fingerprint. */
  readonly isUnverified?: boolean
  readonly signCount?: number
}

const base64url = (bytes: Buffer) => bytes.toString('base64url')
const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

export class PasskeyDevice {
  readonly id = randomBytes(32)
  readonly #origin: string
  readonly #privateKey: KeyObject
  readonly #publicKey: Buffer
  signCount = 1

  constructor(origin: string) {
    this.#origin = origin
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string }
    // COSE: a map of kty 2 (EC2), alg -7 (ES256), crv 1 (P-256), x and y.
    this.#publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ])
  }

  /** Returns what the page's script submits after `navigator.credentials.create`. */
  create(options: CreationOptions, lie: Lie = {}): string {
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, this.#publicKey])
    const data = Buffer.concat([this.#authenticatorData(options.rp.id, HAS_CREDENTIAL, lie), credential])
    // CBOR: { fmt: "none", attStmt: {}, authData: data }
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      Buffer.from([data.length >> 8, data.length & 0xff]),
      data,
    ])
    const clientDataJSON = this.#clientData('webauthn.create', options.challenge, lie)
    return this.#answer({
      clientDataJSON: base64url(clientDataJSON),
      attestationObject: base64url(attestationObject),
      transports: ['internal', 'hybrid'],
    })
  }

  /** Returns what the page's script submits after `navigator.credentials.get`. */
  sign(options: RequestOptions, lie: Lie = {}): string {
    this.signCount = lie.signCount ?? this.signCount + 1
    const authenticatorData = this.#authenticatorData(options.rpId, 0, lie)
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, lie)
    const hash = createHash('sha256').update(clientDataJSON).digest()
    return this.#answer({
      clientDataJSON: base64url(clientDataJSON),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(sign('sha256', Buffer.concat([authenticatorData, hash]), this.#privateKey)),
    })
  }

  #answer(response: object): string {
    const id = base64url(this.id)
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })
  }

  #authenticatorData(host: string, flags: number, { isUnverified = false }: Lie): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.signCount)
    const seen = USER_PRESENT | (isUnverified ? 0 : USER_VERIFIED)
    return Buffer.concat([createHash('sha256').update(host).digest(), Buffer.from([flags | seen]), counter])
  }

  #clientData(type: string, challenge: string, lie: Lie): Buffer {
    const facts = {
      type,
      challenge: lie.challenge ?? challenge,
      origin: lie.origin ?? this.#origin,
      crossOrigin: false,
    }
    return Buffer.from(JSON.stringify(facts))
  }
}
