/** Completes an upstream's facts with the defaults, in the form that the gateway reads. */

import type { Upstream } from '../src/generated/types.ts'
import { resolveDiscount, resolveFx } from './cost.ts'
import { type Facts, resolveFacts } from './dialect.ts'
import { compareText } from './findings.ts'
import type { HostFacts } from './generated/types.ts'
import type { Schema, Schemas } from './schemas.ts'

export type UpstreamDefaults = Omit<Upstream, 'id' | 'baseUrl' | 'paths' | 'auth'>

export function upstreamDefaults(schemas: Schemas): UpstreamDefaults {
  const facts = hostSchema(schemas)
  return {
    wire: 'plain',
    headers: {},
    forwardHeaders: [],
    betas: null,
    fields: {},
    errors: null,
    attemptsMax: facts.attempts_max?.default as number,
    concurrencyMax: facts.concurrency_max?.default as number,
    discount: [],
    fx: [],
    cooldown: resolveFacts(facts.cooldown as Schema, []) as unknown as Upstream['cooldown'],
    ...waitsOf(facts, undefined),
  }
}

const AUTH_HEADERS = { bearer: 'authorization', 'x-api-key': 'x-api-key', sigv4: 'authorization', header: '' } as const

export function resolveUpstream(id: string, host: HostFacts, schemas: Schemas, defaults: UpstreamDefaults): Upstream {
  const facts = hostSchema(schemas)
  const { scheme, region } = host.auth
  const header = host.auth.header ?? AUTH_HEADERS[scheme]
  return {
    ...defaults,
    id,
    baseUrl: host.base_url,
    wire: host.wire ?? defaults.wire,
    paths: sortKeys(host.paths),
    auth: region === undefined ? { scheme, header } : { scheme, header, region },
    headers: sortKeys(host.headers ?? {}),
    forwardHeaders: host.forward_headers ?? [],
    betas: host.betas === undefined ? null : { header: host.betas.header, field: host.betas.field ?? null },
    fields: sortKeys(host.fields ?? {}),
    errors: host.errors === undefined ? null : { message: host.errors.message, type: host.errors.type ?? null },
    attemptsMax: host.attempts_max ?? defaults.attemptsMax,
    concurrencyMax: host.concurrency_max ?? defaults.concurrencyMax,
    discount: resolveDiscount(host.discount),
    fx: resolveFx(host.fx),
    cooldown: resolveFacts(facts.cooldown as Schema, [host.cooldown as Facts]) as unknown as Upstream['cooldown'],
    ...waitsOf(facts, host.timeouts as Facts | undefined),
  }
}

function waitsOf(facts: Readonly<Record<string, Schema>>, timeouts: Facts | undefined) {
  const waits = resolveFacts(facts.timeouts as Schema, [timeouts]) as Record<string, number>
  return {
    connectTimeoutMs: waits.connectMs as number,
    firstByteTimeoutMs: waits.firstByteMs as number,
    idleTimeoutMs: waits.idleMs as number,
    totalTimeoutMs: waits.totalMs as number,
  }
}

function hostSchema(schemas: Schemas): Readonly<Record<string, Schema>> {
  return schemas.upstreams.definitions?.host?.properties as Record<string, Schema>
}

function sortKeys<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => compareText(a, b))) as T
}
