/**
 * Number formats of the pages, beyond those that emails use too (`lib/display.ts`). In both languages, a dot groups thousands
 * and a comma precedes decimals: `1.000,5`.
 */

import { day, dongOfMicro, dongWhole, NO_BREAK, withDots } from '../../lib/display.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'

export { date, day, dongOfMicro, dongWhole, time } from '../../lib/display.ts'

/**
 * For tables of amounts: no decimals from a thousand dong on, at most two below, but as many as an amount under 0.01 dong
 * needs, so that only 0 is shown as 0.
 */
export function dongShort(amount: MicroVnd): string {
  const size = amount < 0n ? -amount : amount
  if (size >= ROUGH_FROM_MICRO_VND) return dongWhole(amount)
  const cut = (amount / 10_000n) * 10_000n
  return dongOfMicro(cut === 0n ? amount : microVnd(cut))
}

const ROUGH_FROM_MICRO_VND = 1000n * 1_000_000n

/** For totals: exact below a thousand dong, whole dong from there on. */
export function dongRough(amount: MicroVnd): string {
  return amount >= ROUGH_FROM_MICRO_VND ? dongWhole(amount) : dongOfMicro(amount)
}

/** Writes whole dong as `50.000 ₫`. */
export function dong(amount: number | bigint): string {
  return `${withDots(amount.toString())}${NO_BREAK}₫`
}

/**
 * Writes a number of a chart. From a thousand on, decimals are cut off. Below, there are at most two, because three would look
 * like a group of thousands. Numbers below a hundredth may have six, so that they are not shown as 0.
 */
export function chartFigure(value: number, unit: string): string {
  const digits = value >= 0.01 ? 2 : 6
  const [whole = '0', fraction] = String(value >= 1000 ? Math.trunc(value) : Number(value.toFixed(digits))).split('.')
  return `${withDots(whole)}${fraction === undefined ? '' : `,${fraction}`}${unit === '' ? '' : NO_BREAK + unit}`
}

/** Writes a number beside a grid line of a chart, such as `1,5M`, `250K` or `0,5`. */
export function chartTick(value: number): string {
  const [size, letter] = value >= 1e9 ? [1e9, 'B'] : value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'K'] : [1, '']
  return `${String(Number((value / size).toFixed(6)))}${letter}`.replace('.', ',')
}

/** Writes a number as `1.234`. */
export function count(value: number | bigint): string {
  return withDots(value.toString())
}

/** Abbreviates a number of tokens, such as `1M`, `1,05M` or `128K`. */
export function compactCount(value: number): string {
  if (value >= 1_000_000) return `${String(Number((value / 1_000_000).toFixed(2))).replace('.', ',')}M`
  return value >= 1000 ? `${Math.round(value / 1000)}K` : String(value)
}

/** Writes the day of a report as `21/11`. */
export function shortDay(value: string): string {
  return day(value).slice(0, 5)
}

/** Writes a duration as `340 ms` or `12,4 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}${NO_BREAK}ms`
  return `${(milliseconds / 1000).toFixed(1).replace('.', ',')}${NO_BREAK}s`
}

/** Writes a share from 0 to 1 as `12,5 %`; only 0 is shown as 0 %, and only 1 as 100 %. */
export function percent(part: number): string {
  const rounded = Number((part * 100).toFixed(1))
  const shown =
    part > 0 && part < 0.001 ? '<0,1' : part < 1 && rounded === 100 ? '>99,9' : String(rounded).replace('.', ',')
  return `${shown}${NO_BREAK}%`
}
