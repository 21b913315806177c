/** Signs requests with AWS Signature Version 4. Uses AWS's own signer, with Node's hash functions. */

import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { AwsSecret } from '../credentials.ts'

/** Name of the service in AWS signatures. */
const SIGNING_NAME = 'bedrock'

type HashInput = string | ArrayBuffer | ArrayBufferView

class NodeSha256 {
  readonly #secret: Buffer | null
  #hash: Hash | Hmac

  constructor(secret?: HashInput) {
    this.#secret = secret === undefined ? null : bytesOf(secret)
    this.#hash = this.#fresh()
  }

  update(chunk: HashInput): void {
    this.#hash.update(bytesOf(chunk))
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }

  reset(): void {
    this.#hash = this.#fresh()
  }

  #fresh(): Hash | Hmac {
    return this.#secret === null ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
}

function bytesOf(input: HashInput): Buffer {
  if (typeof input === 'string') return Buffer.from(input, 'utf8')
  if (ArrayBuffer.isView(input)) return Buffer.from(input.buffer, input.byteOffset, input.byteLength)
  return Buffer.from(input)
}

export interface SignableRequest {
  /** Host and port, as in the `host` header. */
  readonly host: string
  /** Path in its encoded form, without a query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Signing time. Default: now. */
  readonly date?: Date
}

export type Signer = (request: SignableRequest) => Promise<Record<string, string>>

/**
 * Makes a function that signs POST requests: it returns their headers with host, date, body hash, session token and signature
 * added.
 */
export function createSigner({ accessKeyId, secretAccessKey, sessionToken }: AwsSecret, region: string): Signer {
  const signer = new SignatureV4({
    service: SIGNING_NAME,
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
    sha256: NodeSha256,
  })
  return async ({ host, path, headers, body, date }) => {
    const signed = await signer.sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname: host,
        path,
        headers: { ...headers, host },
        body,
      },
      date === undefined ? {} : { signingDate: date },
    )
    return signed.headers
  }
}
