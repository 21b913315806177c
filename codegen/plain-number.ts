/** Recognises numbers whose notation is exactly their value. */

/** Whether a number reads as it looks. False for `50.000`, which is 50, for `1e3`, and for more digits than a number can hold. */
export function isPlainNumber(source: string, value: number): boolean {
  if (Number.isInteger(value)) return source === String(value)
  return /^-?(0|[1-9][0-9]*)\.[0-9]+$/.test(source) && source.replace(/0+$/, '') === String(value)
}
