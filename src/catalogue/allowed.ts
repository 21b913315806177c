/**
 * The models that a key may call: a list of entry ids and of `family/*` for whole families. An id whose entry has retired, or has
 * become an alias, means the entry that answers for it. The hold statement applies the same rules in SQL.
 */

import type { ModelEntry } from '../generated/types.ts'
import type { Catalogue } from './catalogue.ts'

/** Whether a key with this list may call the entry. Null allows every entry. */
export function allows(catalogue: Catalogue, allowed: readonly string[] | null, entry: ModelEntry): boolean {
  return allowed === null || isListed(allowed, entry) || formerName(catalogue, allowed, entry) !== null
}

function isListed(allowed: readonly string[], { id, family }: ModelEntry): boolean {
  return allowed.includes(id) || allowed.includes(`${family}/*`)
}

/** The name under which a key's list has an entry that it does not list itself: the id of one for which this one answers now. */
export function formerName(catalogue: Catalogue, allowed: readonly string[] | null, entry: ModelEntry): string | null {
  if (allowed === null || isListed(allowed, entry)) return null
  return allowed.find(name => catalogue.resolve(name)?.entry.id === entry.id) ?? null
}

/** Names of families, in catalogue order. */
export function familiesOf({ items }: Catalogue): readonly string[] {
  return [...new Set(items.map(({ entry }) => entry.family))]
}

/**
 * Turns names as people type them (aliases too, in upper or lower case) into entry ids and `family/*`, without duplicates.
 * `unknown` lists the names that match nothing.
 */
export function readAllowed(
  catalogue: Catalogue,
  names: readonly string[],
): { readonly allowed: readonly string[]; readonly unknown: readonly string[] } {
  const families = new Set(familiesOf(catalogue).map(family => `${family}/*`))
  const allowed = new Set<string>()
  const unknown: string[] = []
  for (const name of names) {
    const pattern = name.toLowerCase()
    const id = families.has(pattern) ? pattern : catalogue.resolve(name)?.entry.id
    if (id === undefined) unknown.push(name)
    else allowed.add(id)
  }
  return { allowed: [...allowed], unknown }
}
