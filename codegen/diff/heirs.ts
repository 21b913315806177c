/** Which entry serves a name under some tables: now, and once every announced end has come. */

import type { ModelEntry, Tables } from '../../src/generated/types.ts'

export interface Heirs {
  /** Every name that a client can know: ids, aliases, and `fallback`. */
  readonly names: ReadonlySet<string>
  entry(id: string): ModelEntry | undefined
  /** What serves calls for a name today; chat entries that are gone go to the fallback. */
  servedBy(name: string, kind?: ModelEntry['kind']): ModelEntry | undefined
  /** The same, as if every `retires` had passed. */
  servedAtLast(name: string, kind?: ModelEntry['kind']): ModelEntry | undefined
}

/** `today` is an ISO date. */
export function heirsOf({ entries, settings }: Tables, today: string): Heirs {
  const byId = new Map(entries.map(entry => [entry.id, entry]))
  const aliases = new Map(Object.entries(settings.aliases))
  const fallback = byId.get(settings.fallback)
  const resolve = (name: string, kind: ModelEntry['kind']) => {
    const id = name === 'fallback' ? settings.fallback : name
    return byId.get(id) ?? byId.get(aliases.get(id) ?? '') ?? (kind === 'chat' ? fallback : undefined)
  }
  const succeed = (entry: ModelEntry | undefined, day: string) => {
    const { retiresOn, successor } = entry?.deprecated ?? { retiresOn: null, successor: null }
    return retiresOn === null || retiresOn > day || successor === null ? entry : byId.get(successor)
  }
  return {
    names: new Set([...byId.keys(), ...aliases.keys(), 'fallback']),
    entry: id => byId.get(id),
    servedBy: (name, kind = 'chat') => succeed(resolve(name, kind), today),
    servedAtLast: (name, kind = 'chat') => succeed(resolve(name, kind), LAST_DAY),
  }
}

const LAST_DAY = '9999-12-31'
