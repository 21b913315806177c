/** Stop sequences. A reply would go on where it should end if some were left out, so too many are refused. */

import { refuse } from '../conversation/refuse.ts'

export interface StopPlace {
  /** Name of the field in the client's format. */
  readonly field: string
  /** Most that the upstream takes. */
  readonly max: number
}

/** The sequences themselves. Throws GatewayError `invalid_request` when there are too many. */
export function stopSequences(sequences: readonly string[], { field, max }: StopPlace): string[] {
  if (sequences.length > max) {
    const limit = max === 0 ? 'takes no stop sequences; leave the field out' : `takes at most ${max} stop sequences`
    refuse(field, `this model ${limit}`)
  }
  return [...sequences]
}
