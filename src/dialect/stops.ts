/**
 * Refuses requests with more stop sequences than the upstream accepts: if some were dropped, the reply could run past its
 * intended end.
 */

import { refuse } from '../conversation/refuse.ts'

export interface StopPlace {
  /** Name of the field in the client's format, for the error. */
  readonly field: string
  /** Maximum number of stop sequences that the upstream accepts. */
  readonly max: number
}

/** Returns the sequences unchanged. Throws GatewayError `invalid_request` if there are too many. */
export function stopSequences(sequences: readonly string[], { field, max }: StopPlace): string[] {
  if (sequences.length > max) {
    const limit =
      max === 0 ? 'does not accept stop sequences; leave the field out' : `accepts at most ${max} stop sequences`
    refuse(field, `this model ${limit}`)
  }
  return [...sequences]
}
