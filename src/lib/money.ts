/** Money is integer micro-dong (µVND, 10⁻⁶ VND) in a branded bigint, so using a plain `number` as money is a compile error. */

declare const microVndBrand: unique symbol
export type MicroVnd = bigint & { readonly [microVndBrand]: true }

export const MICRO_PER_VND = 1_000_000n
export const ZERO_MICRO_VND = 0n as MicroVnd

/** Brands an amount that is already in µVND. */
export function microVnd(amount: bigint): MicroVnd {
  return amount as MicroVnd
}

/** Converts whole dong to µVND. Throws RangeError unless `vnd` is a safe integer. */
export function vndToMicro(vnd: number): MicroVnd {
  if (!Number.isSafeInteger(vnd)) throw new RangeError(`not a whole number of dong: ${vnd}`)
  return (BigInt(vnd) * MICRO_PER_VND) as MicroVnd
}

/** Writes decimal VND without rounding and without trailing zeros: 1680000n is `1.68`. */
export function formatVnd(amount: MicroVnd): string {
  const sign = amount < 0n ? '-' : ''
  const absolute = amount < 0n ? -amount : (amount as bigint)
  const fraction = absolute % MICRO_PER_VND
  const whole = sign + (absolute / MICRO_PER_VND).toString()
  return fraction === 0n ? whole : `${whole}.${fraction.toString().padStart(6, '0').replace(/0+$/, '')}`
}
