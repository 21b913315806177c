/** Headers of an upstream request: built from the upstream's facts, never copied from the client. */

import type { ReachableUpstream } from './registry.ts'

export interface HeaderInput {
  readonly upstream: ReachableUpstream
  readonly callerId: number
  readonly streamed: boolean
  /** Of the body; absent: JSON. */
  readonly contentType?: string | undefined
  /** What may come back; absent: JSON, or an event stream for a streamed call. */
  readonly accept?: string | undefined
  /** Values of the client's headers that may be forwarded, by lower-case name; others are not looked at. */
  readonly clientHeader: (name: string) => string | undefined
}

/** Longest value of a forwarded header, in characters. */
const FORWARDED_VALUE_MAX = 2048

export function upstreamHeaders(input: HeaderInput): Record<string, string> {
  const { facts, credentials } = input.upstream
  const headers: Record<string, string> = {
    'content-type': input.contentType ?? 'application/json',
    accept: input.accept ?? (input.streamed ? 'text/event-stream' : 'application/json'),
    'accept-encoding': 'identity',
    ...facts.headers,
  }
  for (const name of facts.forwardHeaders) {
    const value = input.clientHeader(name)
    if (value && /^[\x20-\x7e]+$/.test(value)) headers[name] = value.slice(0, FORWARDED_VALUE_MAX)
  }
  const { secret } = credentials.pick(input.callerId)
  if (facts.auth.scheme === 'x-api-key') headers['x-api-key'] = secret
  else if (facts.auth.scheme === 'header') headers[facts.auth.header.toLowerCase()] = secret
  else headers.authorization = `Bearer ${secret}`
  return headers
}
