/** Numbers that are written as they are read. */

/** Not `50.000`, which is 50, nor `1e3`, nor more digits than a number keeps. */
export function isPlainNumber(source: string, value: number): boolean {
  if (Number.isInteger(value)) return source === String(value)
  return /^-?(0|[1-9][0-9]*)\.[0-9]+$/.test(source) && source.replace(/0+$/, '') === String(value)
}
