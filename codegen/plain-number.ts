/** Recognises numbers that YAML reads exactly as they are written. */

/**
 * Whether `value` is the number that `source` appears to be. False for `50.000`, which YAML reads as 50, for `1e3`, and for
 * numbers with more digits than a double can hold.
 */
export function isPlainNumber(source: string, value: number): boolean {
  if (Number.isInteger(value)) return source === String(value)
  return /^-?(0|[1-9][0-9]*)\.[0-9]+$/.test(source) && source.replace(/0+$/, '') === String(value)
}
