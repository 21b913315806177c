/** The models that a key is bound to: ids of entries, and `family/*` for all of a family. The hold statement reads them likewise. */

import type { ModelEntry } from '../generated/types.ts'
import type { Catalogue } from './catalogue.ts'

/** Whether the entry is among them; null stands for all. */
export function allows(allowed: readonly string[] | null, { id, family }: Pick<ModelEntry, 'id' | 'family'>): boolean {
  return allowed === null || allowed.includes(id) || allowed.includes(`${family}/*`)
}

/** Names of families, in catalogue order. */
export function familiesOf({ items }: Catalogue): readonly string[] {
  return [...new Set(items.map(({ entry }) => entry.family))]
}

/**
 * Names as people type them, in any case and by alias, as ids and `family/*`, each once. `unknown` are those that name
 * nothing.
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
