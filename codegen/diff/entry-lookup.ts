/** Finds the entry that serves calls for a model name, both today and after all announced retirements. */

import type { ModelEntry, Tables } from '../../src/generated/types.ts'
import { compareText } from '../findings.ts'

export interface EntryLookup {
  /** Every name that clients can use, in lower case: ids, aliases, and `fallback`. */
  readonly names: ReadonlySet<string>
  /** Every entry under its vendor's names (`openai/gpt-5.5`), sorted by these. */
  vendorNames(): readonly (readonly [name: string, entry: ModelEntry])[]
  entry(id: string): ModelEntry | undefined
  /** The entry that serves calls for a name today. For chat entries that were removed, this is the fallback. */
  servedBy(name: string, kind?: ModelEntry['kind']): ModelEntry | undefined
  /** The entry that serves calls for a name once every `retires` date has passed. */
  servedAfterRetirements(name: string, kind?: ModelEntry['kind']): ModelEntry | undefined
}

/** `today` is an ISO date. */
export function entryLookup({ entries, settings }: Tables, today: string): EntryLookup {
  const byId = new Map(entries.map(entry => [entry.id, entry]))
  // Names match in any case; ids are in lower case already.
  const aliases = new Map(Object.entries(settings.aliases).map(([alias, id]) => [alias.toLowerCase(), id]))
  const fallback = byId.get(settings.fallback)
  const vendors = new Map([
    ...Object.entries(settings.vendors),
    ...entries.map(({ vendor }): [string, string] => [vendor, vendor]),
  ])
  const ofVendor = (name: string) => {
    const slash = name.indexOf('/')
    const vendor = slash < 0 ? undefined : vendors.get(name.slice(0, slash))
    const bare = name.slice(slash + 1)
    const entry = byId.get(bare) ?? byId.get(aliases.get(bare) ?? '')
    return entry?.vendor === vendor ? entry : undefined
  }
  const resolve = (name: string, kind: ModelEntry['kind']) => {
    const id = name === 'fallback' ? settings.fallback : name.toLowerCase()
    return byId.get(id) ?? byId.get(aliases.get(id) ?? '') ?? ofVendor(id) ?? (kind === 'chat' ? fallback : undefined)
  }
  const succeed = (entry: ModelEntry | undefined, day: string) => {
    const { retiresOn, successor } = entry?.deprecated ?? { retiresOn: null, successor: null }
    return retiresOn === null || retiresOn > day || successor === null ? entry : byId.get(successor)
  }
  return {
    names: new Set([...byId.keys(), ...aliases.keys(), 'fallback']),
    vendorNames: () =>
      [...vendors]
        .flatMap(([name, vendor]) =>
          entries
            .filter(entry => entry.vendor === vendor)
            .map((entry): [string, ModelEntry] => [`${name}/${entry.id}`, entry]),
        )
        .toSorted(([a], [b]) => compareText(a, b)),
    entry: id => byId.get(id),
    servedBy: (name, kind = 'chat') => succeed(resolve(name, kind), today),
    servedAfterRetirements: (name, kind = 'chat') => succeed(resolve(name, kind), LAST_DAY),
  }
}

const LAST_DAY = '9999-12-31'
