/** From checked sources to the tables that the engine reads: facts merged, defaults filled in, order fixed. */

import type {
  CatalogueFile,
  DeprecatedFacts,
  Deprecation,
  Dialect,
  DialectFacts,
  Endpoint,
  EntryFacts,
  Extras,
  ExtrasFacts,
  FamilyFile,
  HostFacts,
  ModelEntry,
  ModelFacts,
  Rule,
  Tables,
  TargetFacts,
  Upstream,
  UpstreamsFile,
} from '../src/generated/types.ts'
import { digestOf } from './canonical.ts'
import { resolveCost, resolveDiscount, resolveFx } from './cost.ts'
import { type Facts, resolveFacts } from './dialect.ts'
import { extrasResolver } from './extras.ts'
import { compareText } from './findings.ts'
import type { Schema, Schemas } from './schemas.ts'
import { channelOf, ENDPOINT_ORDER, KINDS, PER_CALL_PREFIX, prefixOf, servedEndpoints } from './standards.ts'

/** Sources that passed the schema and the checks. */
export interface CheckedSources {
  readonly catalogue: CatalogueFile
  readonly upstreams: UpstreamsFile
  readonly families: readonly FamilyFile[]
}

interface Context {
  readonly sources: CheckedSources
  readonly aliasesOf: ReadonlyMap<string, readonly string[]>
  readonly dialect: (layers: readonly (DialectFacts | undefined)[]) => Dialect
  readonly extras: (layers: readonly (ExtrasFacts | undefined)[]) => Extras
}

export function resolveTables(sources: CheckedSources, schemas: Schemas): Tables {
  const aliases = Object.entries(sources.catalogue.aliases).toSorted(([a], [b]) => compareText(a, b))
  const vocabulary = sources.catalogue.extras ?? { fields: {}, tools: {} }
  const aliasesOf = Map.groupBy(aliases, ([, goal]) => goal)
  const context: Context = {
    sources,
    aliasesOf: new Map([...aliasesOf].map(([goal, pairs]) => [goal, pairs.map(([alias]) => alias)])),
    dialect: dialectResolver(schemas.dialect),
    extras: extrasResolver(vocabulary),
  }
  const entries = sources.families.flatMap(family =>
    family.models.flatMap(model => model.entries.map(entry => resolveEntry(context, family, model, entry))),
  )
  const upstreams = Object.entries(sources.upstreams.upstreams).map(([id, host]) =>
    resolveUpstream(id, host, schemas.upstreams),
  )
  return {
    entries: entries.toSorted((a, b) => compareText(a.id, b.id)),
    upstreams: upstreams.toSorted((a, b) => compareText(a.id, b.id)),
    settings: {
      service: sources.catalogue.service,
      fallback: sources.catalogue.fallback,
      aliases: Object.fromEntries(aliases),
      vendors: sortKeys(sources.catalogue.vendors ?? {}),
      extras: vocabulary,
      rateLimitPerMinute: sources.catalogue.defaults.rate_limit_per_minute,
      concurrencyMax: sources.catalogue.defaults.concurrency_max ?? 256,
      fx: resolveFx(sources.catalogue.defaults.fx),
      digest: digestOf(sources),
    },
  }
}

/** Resolves dialects; equal ones are one object, so that the table names each once. */
function dialectResolver(schema: Schema): Context['dialect'] {
  const known = new Map<string, Dialect>()
  return layers => {
    const resolved = resolveFacts(schema, layers as readonly (Facts | undefined)[]) as unknown as Dialect
    const key = JSON.stringify(resolved)
    const same = known.get(key)
    if (same !== undefined) return same
    known.set(key, resolved)
    return resolved
  }
}

function resolveEntry(context: Context, family: FamilyFile, model: ModelFacts, entry: EntryFacts): ModelEntry {
  const { defaults, service } = context.sources.catalogue
  const kind = KINDS[family.api_standard]
  const targets = Array.isArray(entry.upstream)
    ? (entry.upstream as readonly TargetFacts[])
    : [entry.upstream as TargetFacts]
  const contextTokens = entry.context_tokens ?? model.context_tokens ?? null
  const outputTokensMax = entry.output_tokens_max ?? model.output_tokens_max ?? null
  const tokenShares = model.token_shares ?? family.token_shares
  const name = entry.name ?? model.name + nameSuffix(entry.id, service, kind)
  return {
    id: entry.id,
    name,
    description: model.description ?? describeModel(name, contextTokens, outputTokensMax),
    kind,
    vendor: family.vendor,
    family: family.family,
    channel: channelOf(entry.id, service),
    apiStandard: family.api_standard,
    endpoints: resolveEndpoints(context, family, model, targets),
    capabilities: model.capabilities,
    contextTokens,
    outputTokensMax,
    price: { vnd: entry.price.vnd, per: entry.price.per },
    releasedOn: model.released ?? null,
    holdOutputTokens: entry.hold_output_tokens ?? model.hold_output_tokens ?? defaults.hold_output_tokens,
    imagesMax: entry.images_max ?? model.images_max ?? defaults.images_max,
    tokenFactor: model.token_factor ?? family.token_factor ?? defaults.token_factor,
    ...(tokenShares !== undefined && { tokenShares }),
    aliases: context.aliasesOf.get(entry.id) ?? [],
    deprecated: resolveDeprecation(entry.deprecated ?? model.deprecated),
    upstreams: targets.map(target => {
      const host = context.sources.upstreams.upstreams[target.via] as HostFacts
      return {
        via: target.via,
        model: target.model,
        weight: target.weight ?? 0,
        cost: resolveCost(target.cost ?? entry.cost ?? model.cost),
        standard: target.standard ?? family.api_standard,
        dialect: context.dialect([
          family.dialect,
          model.dialect,
          entry.dialect,
          host.dialect,
          target.dialect,
          ...(entry.price.per === 'request'
            ? [{ output: { choices_max: entry.dialect?.output?.choices_max ?? 1 } }]
            : []),
        ]),
        extras: context.extras([host.extras, family.extras, model.extras, entry.extras, target.extras]),
        rules: [family, model, entry, host, target].flatMap((layer): readonly Rule[] => layer.rules ?? []),
      }
    }),
  }
}

function nameSuffix(id: string, service: string, kind: string): string {
  if (channelOf(id, service) === 'aws') return ' (AWS)'
  return prefixOf(id) === PER_CALL_PREFIX && kind === 'chat' ? ' (per call)' : ''
}

/** The description of a model that nobody described. */
export function describeModel(name: string, contextTokens: number | null, outputTokensMax: number | null): string {
  if (contextTokens === null || outputTokensMax === null) return `${name}.`
  return `${name}: ${withCommas(contextTokens)} tokens of context, up to ${withCommas(outputTokensMax)} of output.`
}

function withCommas(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** What every target of the entry serves: a call may go to any of them. */
function resolveEndpoints(
  context: Context,
  family: FamilyFile,
  model: ModelFacts,
  targets: readonly TargetFacts[],
): readonly Endpoint[] {
  const served = targets.map(target => {
    const host = context.sources.upstreams.upstreams[target.via] as HostFacts
    return servedEndpoints(target.standard ?? family.api_standard, host.paths as Record<string, unknown>)
  })
  return ENDPOINT_ORDER.filter(
    endpoint =>
      served.every(endpoints => endpoints.includes(endpoint)) &&
      (model.endpoints === undefined || model.endpoints.includes(endpoint)),
  )
}

function resolveDeprecation(facts: DeprecatedFacts | undefined): Deprecation | null {
  if (facts === undefined) return null
  return { sinceOn: facts.since, retiresOn: facts.retires ?? null, successor: facts.successor ?? null }
}

const AUTH_HEADERS = { bearer: 'authorization', 'x-api-key': 'x-api-key', sigv4: 'authorization', header: '' } as const

function resolveUpstream(id: string, host: HostFacts, schema: Schema): Upstream {
  const facts = schema.definitions?.host?.properties as Record<string, Schema>
  const waits = resolveFacts(facts.timeouts as Schema, [host.timeouts as Facts | undefined]) as Record<string, number>
  const cooldown = resolveFacts(facts.cooldown as Schema, [host.cooldown as Facts | undefined])
  const { scheme, region } = host.auth
  const header = host.auth.header ?? AUTH_HEADERS[scheme]
  return {
    id,
    baseUrl: host.base_url,
    wire: host.wire ?? 'plain',
    paths: sortKeys(host.paths),
    auth: region === undefined ? { scheme, header } : { scheme, header, region },
    headers: sortKeys(host.headers ?? {}),
    forwardHeaders: host.forward_headers ?? [],
    betas: host.betas === undefined ? null : { header: host.betas.header, field: host.betas.field ?? null },
    fields: sortKeys(host.fields ?? {}),
    errors: host.errors === undefined ? null : { message: host.errors.message, type: host.errors.type ?? null },
    attemptsMax: host.attempts_max ?? (facts.attempts_max?.default as number),
    concurrencyMax: host.concurrency_max ?? (facts.concurrency_max?.default as number),
    discount: resolveDiscount(host.discount),
    fx: resolveFx(host.fx),
    cooldown: cooldown as unknown as Upstream['cooldown'],
    connectTimeoutMs: waits.connectMs as number,
    firstByteTimeoutMs: waits.firstByteMs as number,
    idleTimeoutMs: waits.idleMs as number,
    totalTimeoutMs: waits.totalMs as number,
  }
}

function sortKeys<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => compareText(a, b))) as T
}
