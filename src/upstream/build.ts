/** Builds a request to a provider from the upstream's settings in the catalogue (its `facts`). */

import type { Endpoint, Upstream } from '../generated/types.ts'
import { byteText, toBuffer } from '../lib/byte-text.ts'
import type { BodyEdit } from '../lib/edit-tree.ts'
import { editJson } from '../lib/json-text.ts'
import type { Credential } from './credentials.ts'
import type { ReachableUpstream } from './registry.ts'

export interface Outgoing {
  readonly endpoint: Endpoint
  /** The model's name at the upstream. */
  readonly model: string
  readonly body: Buffer
  /** Headers for this call, in addition to the upstream's own. */
  readonly headers: Readonly<Record<string, string>>
  /** Content type of the body; null means JSON. */
  readonly contentType: string | null
  /** The `accept` header; null means JSON or, for streams, an event stream. */
  readonly accept: string | null
  readonly streamed: boolean
  /** Whether the body ends with an assistant message that the model should continue. */
  readonly prefilled: boolean
  /** Beta flags to send, if the upstream accepts any. */
  readonly betas: readonly string[]
  /** Looks up a client header by its lower-case name. Only called for the upstream's `forwardHeaders`. */
  readonly clientHeader: (name: string) => string | undefined
}

export interface BuiltRequest {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer
}

/** Maximum length of a forwarded client header's value, in characters. Longer values are cut off. */
const FORWARDED_VALUE_MAX = 2048
const EVENT_STREAM = { plain: 'text/event-stream', bedrock: 'application/vnd.amazon.eventstream' } as const
const STREAM_SUFFIX = '-with-response-stream'

/** Builds a request, except for a `sigv4` signature, which is added later. Null if the upstream does not serve the endpoint. */
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

/** The header that carries the credential; none when requests are signed instead. */
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
