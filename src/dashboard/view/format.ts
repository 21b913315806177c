/** Numbers as pages show them, beyond the formats that mails use too (`lib/display.ts`). */

import { day, dongOfMicro, dongWhole, NO_BREAK, withDots } from '../../lib/display.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'

export { date, day, dongOfMicro, dongWhole, time } from '../../lib/display.ts'

/** For tables of amounts: two decimals below 1.000 ₫, whole dong above; a non-zero amount is never shown as 0. */
export function dongShort(amount: MicroVnd): string {
  const size = amount < 0n ? -amount : amount
  if (size >= ROUGH_FROM_MICRO_VND) return dongWhole(amount)
  const cut = (amount / 10_000n) * 10_000n
  return dongOfMicro(cut === 0n ? amount : microVnd(cut))
}

const ROUGH_FROM_MICRO_VND = 1000n * 1_000_000n

/** For sums: exact while small, whole dong from 1.000 ₫. */
export function dongRough(amount: MicroVnd): string {
  return amount >= ROUGH_FROM_MICRO_VND ? dongWhole(amount) : dongOfMicro(amount)
}

/** `50.000 ₫`, from whole dong. */
export function dong(amount: number | bigint): string {
  return `${withDots(amount.toString())}${NO_BREAK}₫`
}

/**
 * For charts: whole numbers from 1.000 on, rounded down; two decimals below, because `9,087` beside `9.087` is misread; more
 * only where two would be 0.
 */
export function chartFigure(value: number, unit: string): string {
  const digits = value >= 0.01 ? 2 : 6
  const [whole = '0', fraction] = String(value >= 1000 ? Math.trunc(value) : Number(value.toFixed(digits))).split('.')
  return `${withDots(whole)}${fraction === undefined ? '' : `,${fraction}`}${unit === '' ? '' : NO_BREAK + unit}`
}

/** `1,5M`, `250K`, `0,5`: beside the lines of a chart. */
export function chartTick(value: number): string {
  const [size, letter] = value >= 1e9 ? [1e9, 'B'] : value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'K'] : [1, '']
  return `${String(Number((value / size).toFixed(6)))}${letter}`.replace('.', ',')
}

/** `1.234`. */
export function count(value: number | bigint): string {
  return withDots(value.toString())
}

/** `1M`, `1,05M`, `128K`. */
export function compactCount(value: number): string {
  if (value >= 1_000_000) return `${String(Number((value / 1_000_000).toFixed(2))).replace('.', ',')}M`
  return value >= 1000 ? `${Math.round(value / 1000)}K` : String(value)
}

/** `21/11`, of a report's day. */
export function shortDay(value: string): string {
  return day(value).slice(0, 5)
}

/** `340 ms`, `12,4 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}${NO_BREAK}ms`
  return `${(milliseconds / 1000).toFixed(1).replace('.', ',')}${NO_BREAK}s`
}

/** `12,5 %` of a part, from 0 to 1; only none is 0 % and only all is 100 %. */
export function percent(part: number): string {
  const rounded = Number((part * 100).toFixed(1))
  const shown =
    part > 0 && part < 0.001 ? '<0,1' : part < 1 && rounded === 100 ? '>99,9' : String(rounded).replace('.', ',')
  return `${shown}${NO_BREAK}%`
}
