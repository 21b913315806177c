/** Compares the facts of entries, target by target, and groups changes that several entries share. */

import type { ModelEntry } from '../../src/generated/types.ts'
import { compareText } from '../findings.ts'
import { entryFacts, type Facts, targetFacts, wireFacts } from './facts.ts'

/** A changed value in the catalogue, with all entries that share the change. */
export interface FactChange {
  /** The value's key in YAML, with dots between nested keys. */
  readonly what: string
  readonly old: string
  readonly new: string
  /** Ids of entries, or `catalogue.yaml`, or `upstream` and an upstream's id. */
  readonly names: readonly string[]
}

/**
 * Defaults from each catalogue's schema. A value that only one catalogue has is compared with its default in that catalogue's
 * schema.
 */
export interface SchemaDefaults {
  readonly old: Facts
  readonly now: Facts
}

const ABSENT = '–'
const NO_DEFAULTS: SchemaDefaults = { old: new Map(), now: new Map() }

export function changesOf(name: string, old: Facts, now: Facts, defaults = NO_DEFAULTS): FactChange[] {
  const keys = [...new Set([...old.keys(), ...now.keys()])]
  return keys.flatMap(what => {
    const before = old.get(what) ?? defaults.now.get(what) ?? ABSENT
    const after = now.get(what) ?? defaults.old.get(what) ?? ABSENT
    return before === after ? [] : [{ what, old: before, new: after, names: [name] }]
  })
}

/** Changes of an entry that both catalogues have. A fact of one of several targets says which target it belongs to. */
export function entryChanges(old: ModelEntry, now: ModelEntry, defaults: SchemaDefaults): FactChange[] {
  const ofTargets = pairTargets(old, now).flatMap(([before, after], index) => {
    const suffix = now.upstreams.length === 1 ? '' : ` (target ${index + 1})`
    const changes = targetChanges(now.id, before, after, defaults)
    return changes.map(change => ({ ...change, what: change.what + suffix }))
  })
  return [...changesOf(now.id, entryFacts(old), entryFacts(now), defaults), ...ofTargets]
}

type Target = ModelEntry['upstreams'][number]

/**
 * Pairs each target with the old one that it continues: the same model at the same upstream, else one that is gone. A target that
 * is simply added is compared with the old first one, so that the diff shows how the calls that it gets will fare differently.
 */
function pairTargets(old: ModelEntry, now: ModelEntry): (readonly [old: Target, now: Target])[] {
  const isSame = (one: Target, other: Target) => one.via === other.via && one.model === other.model
  const gone = old.upstreams.filter(target => !now.upstreams.some(other => isSame(target, other)))
  const first = old.upstreams[0]
  return now.upstreams.flatMap(target => {
    const before = old.upstreams.find(other => isSame(target, other)) ?? gone.shift() ?? first
    return before === undefined ? [] : [[before, target] as const]
  })
}

/** A change of the dialect that the target and its wires share is listed once. */
function targetChanges(name: string, old: Target, now: Target, defaults: SchemaDefaults): FactChange[] {
  const own = changesOf(name, targetFacts(old), targetFacts(now), defaults)
  const known = new Set(own.map(valuesOf))
  const ofWires = (now.wires ?? []).flatMap(({ wire, dialect }) => {
    const before = old.wires?.find(other => other.wire === wire)?.dialect ?? old.dialect
    return changesOf(name, wireFacts(before), wireFacts(dialect), defaults)
      .filter(change => !known.has(valuesOf(change)))
      .map(change => ({ ...change, what: `wires.${wire}.${change.what}` }))
  })
  return [...own, ...ofWires]
}

function valuesOf(change: FactChange): string {
  return JSON.stringify([change.what, change.old, change.new])
}

/** Merges changes that several entries share, because one line of their family's YAML file usually causes them all. */
export function groupChanges(changes: readonly FactChange[]): FactChange[] {
  return [...Map.groupBy(changes, valuesOf).values()]
    .map(group => ({ ...(group[0] as FactChange), names: group.flatMap(change => change.names) }))
    .toSorted((a, b) => compareText(a.what, b.what) || compareText(a.names[0] ?? '', b.names[0] ?? ''))
}
