/**
 * The models that a key may call: a list of entry ids and of `family/*` for whole families. The hold statement applies the same
 * rules in SQL.
 */

import type { ModelEntry } from '../generated/types.ts'
import type { Catalogue } from './catalogue.ts'

/** Whether a key with this list may call the entry. Null allows every entry. */
export function allows(allowed: readonly string[] | null, { id, family }: Pick<ModelEntry, 'id' | 'family'>): boolean {
  return allowed === null || allowed.includes(id) || allowed.includes(`${family}/*`)
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
