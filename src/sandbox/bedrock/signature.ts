/**
 * Verifies Signature Version 4 as AWS's documentation describes it, but without AWS's library: the gateway signs with that
 * library, and a test double that shared it could not reveal its mistakes.
 */

import { createHash, createHmac } from 'node:crypto'
import { SANDBOX_AWS_SECRET } from '../../upstream/credentials.ts'
import type { Exchange } from '../exchange.ts'
import { ProviderError } from '../model.ts'

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 'bedrock'
const SKEW_MS_MAX = 5 * 60_000

export function isSigned(exchange: Exchange): boolean {
  return exchange.header('authorization').startsWith(`${ALGORITHM} `)
}

/** Throws ProviderError 403, in AWS's wording, unless the request was signed with the sandbox's own key. */
export async function checkSignature(exchange: Exchange): Promise<void> {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      exchange.header('authorization'),
    )
  if (parts === null) throw refused('IncompleteSignatureException', 'Authorization header is not well formed.')
  const [, accessKeyId, day, region, service, signedHeaders, signature] = parts as unknown as string[] & { length: 7 }
  if (accessKeyId !== SANDBOX_AWS_SECRET.accessKeyId) {
    throw refused('UnrecognizedClientException', 'The security token included in the request is invalid.')
  }
  const date = exchange.header('x-amz-date')
  if (!isRecent(date) || !date.startsWith(day as string) || service !== SERVICE) {
    throw refused(
      'InvalidSignatureException',
      'Signature expired, or Credential should be scoped to another date or service.',
    )
  }
  const body = await exchange.body()
  const canonical = canonicalRequest(exchange, (signedHeaders as string).split(';'), body)
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = [ALGORITHM, date, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part as string),
    Buffer.from(`AWS4${SANDBOX_AWS_SECRET.secretAccessKey}`),
  )
  if (hmac(key, toSign).toString('hex') !== signature) {
    throw refused(
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
    )
  }
}

function refused(type: string, message: string): ProviderError {
  return new ProviderError(403, type, message)
}

function isRecent(date: string): boolean {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)
  if (found === null) return false
  const [, year, month, day, hour, minute, second] = found
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Math.abs(Date.now() - ms) <= SKEW_MS_MAX
}

/** The canonical request, which the signature covers. Its path segments are encoded once more than on the wire. */
function canonicalRequest(exchange: Exchange, signedHeaders: readonly string[], body: Buffer): string {
  if (!signedHeaders.includes('host')) throw refused('InvalidSignatureException', "'Host' must be a 'SignedHeader'.")
  const [path, query] = (exchange.request.url ?? '').split('?') as [string, string?]
  const headers = signedHeaders.map(name => `${name}:${exchange.header(name).trim().replace(/\s+/g, ' ')}\n`)
  return [
    exchange.request.method,
    path.split('/').map(encodeSegment).join('/'),
    (query ?? '').split('&').toSorted().join('&'),
    headers.join(''),
    signedHeaders.join(';'),
    sha256(body),
  ].join('\n')
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
