/** Facts that follow from a model's wire format and an entry's id: kind, endpoints, channel, price unit. */

import { ENDPOINT_FACTS, ENDPOINT_ORDER } from '../src/catalogue/endpoints.ts'
import type { ApiStandard, Channel, Endpoint, ModelKind } from '../src/generated/types.ts'

export const KINDS: Readonly<Record<ApiStandard, ModelKind>> = {
  messages: 'chat',
  chat_completions: 'chat',
  images: 'image',
  speech: 'speech',
}

/**
 * For each API standard, the endpoints that an upstream must have (`needed`), and others that the gateway can use (`optional`).
 */
export const UPSTREAM_ENDPOINTS: Readonly<
  Record<ApiStandard, { readonly needed: readonly Endpoint[]; readonly optional: readonly Endpoint[] }>
> = {
  messages: { needed: ['messages'], optional: [] },
  chat_completions: { needed: ['chat_completions'], optional: ['responses'] },
  images: { needed: ['images_generations'], optional: ['images_edits'] },
  speech: { needed: ['audio_speech'], optional: [] },
}

/** Endpoints that every chat model serves, because the gateway converts between their formats. */
const CHAT_ENDPOINTS = ENDPOINT_ORDER.filter(endpoint => ENDPOINT_FACTS[endpoint].makes === 'chat')

export function isStandard(word: string): word is ApiStandard {
  return Object.hasOwn(KINDS, word)
}

/** Endpoints of a target's upstream to which the gateway can send requests, given the upstream's paths. */
export function reachedEndpoints(standard: ApiStandard, paths: Readonly<Record<string, unknown>>): Endpoint[] {
  const { needed, optional } = UPSTREAM_ENDPOINTS[standard]
  return [...needed, ...optional].filter(endpoint => Object.hasOwn(paths, endpoint))
}

/** Endpoints at which clients can reach a target, given its upstream's paths. */
export function servedEndpoints(standard: ApiStandard, paths: Readonly<Record<string, unknown>>): Endpoint[] {
  const { needed } = UPSTREAM_ENDPOINTS[standard]
  const reached = reachedEndpoints(standard, paths)
  const served =
    KINDS[standard] === 'chat' && reached.includes(needed[0] as Endpoint) ? [...CHAT_ENDPOINTS, ...reached] : reached
  return ENDPOINT_ORDER.filter(endpoint => served.includes(endpoint))
}

export const PER_CALL_PREFIX = 'req'

/** The part of an id before its slash, or ''. */
export function prefixOf(id: string): string {
  const slash = id.indexOf('/')
  return slash < 0 ? '' : id.slice(0, slash)
}

export function channelOf(id: string, service: string): Channel {
  return prefixOf(id) === service ? 'aws' : 'standard'
}
