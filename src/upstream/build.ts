/** Builds a request to a provider from the upstream's facts. No client header is copied unless the facts name it. */

import type { Endpoint, Upstream } from '../generated/types.ts'
import { byteText, toBuffer } from '../lib/byte-text.ts'
import { type BodyEdit, editJson } from '../lib/json-text.ts'
import type { Credential } from './credentials.ts'
import type { ReachableUpstream } from './registry.ts'

export interface Outgoing {
  readonly endpoint: Endpoint
  /** The upstream's name for the model. */
  readonly model: string
  readonly body: Buffer
  /** Headers of this call, in addition to those of the upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** Null: JSON. */
  readonly contentType: string | null
  /** Null: JSON, or an event stream. */
  readonly accept: string | null
  readonly streamed: boolean
  /** The client asks to continue the last message of the body. */
  readonly prefilled: boolean
  /** Beta flags to send, if the upstream takes any. */
  readonly betas: readonly string[]
  /** Looks up a client header by its lower-case name; only headers that the facts name are read. */
  readonly clientHeader: (name: string) => string | undefined
}

export interface BuiltRequest {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer
}

/** Longest value of a forwarded header, in characters. */
const FORWARDED_VALUE_MAX = 2048
const EVENT_STREAM = { plain: 'text/event-stream', bedrock: 'application/vnd.amazon.eventstream' } as const
const STREAM_SUFFIX = '-with-response-stream'

/** The request without a `sigv4` signature, which is added later. Null when the upstream does not serve the endpoint. */
export function buildRequest(
  upstream: ReachableUpstream,
  credential: Credential,
  outgoing: Outgoing,
): BuiltRequest | null {
  const { facts } = upstream
  const path = pathOf(upstream, outgoing)
  if (path === null) return null
  const headers: Record<string, string> = {
    'content-type': outgoing.contentType ?? 'application/json',
    accept: outgoing.accept ?? (outgoing.streamed ? EVENT_STREAM[facts.wire] : 'application/json'),
    'accept-encoding': 'identity',
    ...facts.headers,
    ...outgoing.headers,
  }
  for (const name of facts.forwardHeaders) {
    const value = outgoing.clientHeader(name)
    if (value && isPlain(value)) headers[name] = value.slice(0, FORWARDED_VALUE_MAX)
  }
  if (facts.betas !== null && facts.betas.field === null && outgoing.betas.length > 0) {
    headers[facts.betas.header] = outgoing.betas.join(',')
  }
  Object.assign(headers, credentialHeaders(facts, credential))
  return { path, headers, body: bodyOf(facts, outgoing) }
}

/** The header with the credential itself; none when requests are signed instead. */
export function credentialHeaders({ auth }: Upstream, { secret }: Credential): Record<string, string> {
  if (secret.kind !== 'key') return {}
  if (auth.scheme === 'x-api-key') return { 'x-api-key': secret.secret }
  if (auth.scheme === 'header') return { [auth.header.toLowerCase()]: secret.secret }
  return { authorization: `Bearer ${secret.secret}` }
}

function pathOf({ facts, basePath }: ReachableUpstream, outgoing: Outgoing): string | null {
  const { endpoint, model, streamed, prefilled } = outgoing
  const ofPrefilled = prefilled && endpoint === 'chat_completions' ? facts.paths.chat_completions_prefilled : undefined
  const path = ofPrefilled ?? facts.paths[endpoint]
  if (path === undefined) return null
  const named = path.includes('{model}') ? path.replace('{model}', encodeURIComponent(model)) : path
  return basePath + (facts.wire === 'bedrock' && streamed ? named + STREAM_SUFFIX : named)
}

function isPlain(value: string): boolean {
  return /^[\x20-\x7e]+$/.test(value)
}

function bodyOf(facts: Upstream, outgoing: Outgoing): Buffer {
  if (outgoing.contentType !== null) return outgoing.body
  const edits: BodyEdit[] = Object.entries(facts.fields).map(([name, value]) => ({
    op: 'set',
    path: `/${name}`,
    value,
  }))
  const field = facts.betas?.field ?? null
  if (field !== null) {
    edits.push({ op: 'remove', path: `/${field}` })
    if (outgoing.betas.length > 0) edits.push({ op: 'set', path: `/${field}`, value: outgoing.betas })
  }
  if (facts.wire === 'bedrock') edits.push({ op: 'remove', path: '/model' }, { op: 'remove', path: '/stream' })
  if (edits.length === 0) return outgoing.body
  return toBuffer(editJson(byteText(outgoing.body), edits))
}
