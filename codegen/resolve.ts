/** Turns checked sources into the gateway's tables: merges facts and fills in defaults, in the order of the files. */

import type { Counting, Dialect, Extras, Rule, Tables } from '../src/generated/types.ts'
import { digestOf } from './canonical.ts'
import { resolveFx } from './cost.ts'
import { type Facts, factsByDefault, resolveFacts, statedFacts } from './dialect.ts'
import { type EntryContext, entryDefaults } from './entry-context.ts'
import { extrasByDefault, statedExtras } from './extras.ts'
import { compareText } from './findings.ts'
import { LayerTree, mergeFacts, type StatedFacts } from './layers.ts'
import type { CheckedSources, Outline } from './outline.ts'
import { resolveFamily } from './resolve-family.ts'
import { resolveUpstream, upstreamDefaults } from './resolve-upstream.ts'
import type { Schemas } from './schemas.ts'

export interface Resolved {
  readonly tables: Tables
  /** Which level of the catalogue (defaults, family, model or entry) states what; the TypeScript source shows the same. */
  readonly outline: Outline
}

export function resolveTables(sources: CheckedSources, schemas: Schemas): Resolved {
  const { catalogue } = sources
  const vocabulary = catalogue.extras ?? { fields: {}, tools: {} }
  const counting: EntryContext['counting'] = (...layers) =>
    resolveFacts(schemas.common.definitions?.counting ?? {}, [
      catalogue.defaults.counting as Facts | undefined,
      ...(layers as readonly (Facts | undefined)[]),
    ]) as unknown as Counting
  const defaults = {
    entry: entryDefaults(catalogue.defaults, counting()),
    upstream: upstreamDefaults(schemas),
    dialect: factsByDefault(schemas.dialect),
    extras: extrasByDefault(vocabulary),
  }
  const layers = createLayers(defaults)
  const layer: EntryContext['layer'] = (kind, name, { dialect, extras, rules = [] }) => ({
    kind,
    name,
    dialect: statedFacts(schemas.dialect, dialect as Facts | undefined),
    extras: statedExtras(vocabulary, extras),
    rules,
  })
  const upstreams = Object.entries(sources.upstreams.upstreams)
  const hosts = new Map(upstreams.map(([id, host]) => [id, layer('upstream', id, host)]))
  const perCall = layer('call', '', { dialect: { output: { choices_max: 1 } } })
  const aliasesOf = aliasesByEntry(catalogue.aliases)
  const context: EntryContext = {
    sources,
    defaults: defaults.entry,
    aliasesOf,
    layers,
    layer,
    counting,
    hosts,
    perCall,
  }
  const families = sources.families.map(family => resolveFamily(context, family))
  const tables: Tables = {
    entries: families.flatMap(family => family.models.flatMap(model => model.entries.map(({ entry }) => entry))),
    upstreams: upstreams.map(([id, host]) => resolveUpstream(id, host, schemas, defaults.upstream)),
    settings: {
      service: catalogue.service,
      fallback: catalogue.fallback,
      aliases: catalogue.aliases,
      vendors: catalogue.vendors ?? {},
      vendorNames: catalogue.vendor_names ?? {},
      extras: vocabulary,
      rateLimitPerMinute: catalogue.defaults.rate_limit_per_minute,
      concurrencyMax: catalogue.defaults.concurrency_max ?? 256,
      fx: resolveFx(catalogue.defaults.fx),
      digest: digestOf(sources),
    },
  }
  return { tables, outline: { defaults, ...layers, perCall, hosts: [...hosts.values()], families } }
}

function createLayers(defaults: Outline['defaults']): EntryContext['layers'] {
  const add = <Value extends object>(base: Value, stated: StatedFacts) =>
    stated.size === 0 ? null : mergeFacts(base, stated)
  return {
    dialects: new LayerTree({
      defaults: mergeFacts({}, defaults.dialect) as Dialect,
      add: (base, layer) => add(base, layer.dialect),
      alwaysAdded: ['family', 'model', 'upstream', 'call'],
    }),
    extras: new LayerTree({
      defaults: mergeFacts({}, defaults.extras) as Extras,
      add: (base, layer) => add(base, layer.extras),
      alwaysAdded: ['upstream'],
    }),
    rules: new LayerTree<readonly Rule[]>({
      defaults: [],
      add: (base, { rules }) => (rules.length === 0 ? null : [...base, ...rules]),
      alwaysAdded: ['upstream'],
    }),
  }
}

function aliasesByEntry(aliases: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  const sorted = Object.entries(aliases).toSorted(([a], [b]) => compareText(a, b))
  const groups = Map.groupBy(sorted, ([, goal]) => goal)
  return new Map([...groups].map(([goal, pairs]) => [goal, pairs.map(([alias]) => alias)]))
}
