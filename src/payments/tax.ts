/** Value-added tax. Prices and top-ups include it, at the rate of the day. */

/** `percent` null: the service is exempt. */
export interface TaxRate {
  /** The first day of the rate, such as `2026-11-21`. */
  readonly from: string
  readonly percent: number | null
}

export interface TaxedAmount {
  readonly grossVnd: bigint
  readonly netVnd: bigint
  readonly taxVnd: bigint
  /** Null: exempt. */
  readonly percent: number | null
}

/** The rate of a day in Vietnam; for days before the first rate, that rate. Throws RangeError if there are no rates. */
export function taxRateOn(rates: readonly TaxRate[], day: string): TaxRate {
  const rate = rates.findLast(({ from }) => from <= day) ?? rates[0]
  if (rate === undefined) throw new RangeError('no tax rate is configured')
  return rate
}

/** Net is rounded to whole dong, half up; tax is the rest, so that both add up to the gross. */
export function splitTax(grossVnd: bigint, { percent }: Pick<TaxRate, 'percent'>): TaxedAmount {
  const whole = BigInt(100 + (percent ?? 0))
  const netVnd = (grossVnd * 200n + whole) / (2n * whole)
  return { grossVnd, netVnd, taxVnd: grossVnd - netVnd, percent }
}
