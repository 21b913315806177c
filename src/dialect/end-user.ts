/**
 * Adapts the end user's id. The provider needs it only to tell users apart, so an id is hashed if the upstream would refuse its
 * form.
 */

import { hash } from '../conversation/names.ts'
import type { Dialect } from './words.ts'

/** Returns the id itself if the upstream accepts it, else a stable hash. */
export function endUserId(id: string, facts: Pick<Dialect['endUser'], 'lengthMax' | 'characters'>): string {
  const fits = id.length <= facts.lengthMax && (facts.characters === 'any' || /^[a-zA-Z0-9_-]+$/.test(id))
  return fits ? id : hash(id).slice(0, facts.lengthMax)
}
