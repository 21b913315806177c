/** Hashes end users' ids that the upstream would reject. Providers need them only to tell users apart. */

import { hash } from '../conversation/names.ts'
import type { Dialect } from './words.ts'

/** Returns the id unchanged if the upstream accepts it, otherwise a stable hash. */
export function endUserId(id: string, facts: Pick<Dialect['endUser'], 'lengthMax' | 'characters'>): string {
  const fits = id.length <= facts.lengthMax && (facts.characters === 'any' || /^[a-zA-Z0-9_-]+$/.test(id))
  return fits ? id : hash(id).slice(0, facts.lengthMax)
}
