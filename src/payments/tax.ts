/** Value-added tax. Prices and top-ups include it, at the rate that applies on the day. */

/** A rate of value-added tax; `percent` is null if the service is exempt. */
export interface TaxRate {
  /** First day on which the rate applies, such as `2026-11-21`. */
  readonly from: string
  readonly percent: number | null
}

export interface TaxedAmount {
  readonly grossVnd: bigint
  readonly netVnd: bigint
  readonly taxVnd: bigint
  /** Null if the service is exempt. */
  readonly percent: number | null
}

/**
 * The rate that applies on a day in Vietnam; on days before the first rate begins, the first rate. Throws RangeError if there
 * are no rates.
 */
export function taxRateOn(rates: readonly TaxRate[], day: string): TaxRate {
  const rate = rates.findLast(({ from }) => from <= day) ?? rates[0]
  if (rate === undefined) throw new RangeError('no tax rate is configured')
  return rate
}

/** Splits a gross amount. Net is rounded to whole dong, half up; tax is the rest, so that both add up to the gross. */
export function splitTax(grossVnd: bigint, { percent }: Pick<TaxRate, 'percent'>): TaxedAmount {
  const whole = BigInt(100 + (percent ?? 0))
  const netVnd = (grossVnd * 200n + whole) / (2n * whole)
  return { grossVnd, netVnd, taxVnd: grossVnd - netVnd, percent }
}
