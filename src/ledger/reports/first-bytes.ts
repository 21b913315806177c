/**
 * Percentiles of the time to the first byte, from the counts that `roll-up.ts` stores: one for each logarithmic step, with
 * eight steps per doubling.
 */

export interface Step {
  readonly step: number
  readonly attempts: number
}

export function sum(counts: readonly { readonly attempts: number }[]): number {
  return counts.reduce((all, { attempts }) => all + attempts, 0)
}

/**
 * A percentile in ms, accurate to 5 %: the middle of the step that contains it. `steps` must be in ascending order and not
 * empty.
 */
export function percentile(steps: readonly Step[], part: number): number {
  let left = Math.ceil(sum(steps) * part)
  const found = steps.find(({ attempts }) => {
    left -= attempts
    return left <= 0
  })
  return Math.round(2 ** (((found?.step ?? 0) + 0.5) / 8))
}
