/** Stop sequences. A reply would go on where it should end if some were left out, so too many are refused. */

import { refuse } from '../conversation/refuse.ts'
import { arrayOrEmpty, type JsonValue } from '../lib/json.ts'

export interface StopPlace {
  /** Name of the field in the client's format. */
  readonly field: string
  /** Most that the upstream takes. */
  readonly max: number
}

/** The sequences that go up: text only, without those that are empty or blank. Throws when there are too many. */
export function stopSequences(value: JsonValue | undefined, { field, max }: StopPlace): string[] {
  const all = typeof value === 'string' ? [value] : arrayOrEmpty(value)
  const sequences = all.filter(entry => typeof entry === 'string').filter(entry => entry.trim() !== '')
  const unique = [...new Set(sequences)]
  if (unique.length > max) {
    const limit = max === 0 ? 'takes no stop sequences; leave the field out' : `takes at most ${max} stop sequences`
    refuse(field, `this model ${limit}`)
  }
  return unique
}
