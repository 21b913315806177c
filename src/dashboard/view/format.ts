/**
 * Numbers in Vietnamese format, in both languages: dots between thousands, a decimal comma. Amounts and counts stand
 * side by side; with a second format 1.234 and 1,234 would be different numbers on one page.
 */

import { formatVnd, type MicroVnd, microVnd } from '../../lib/money.ts'

const TIME_ZONE = 'Asia/Ho_Chi_Minh'
/** Between a number and its unit, so that they stay on one line. */
const NO_BREAK = '\u00a0'

function withDots(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, '.')
}

/** `50.000 ₫`, `1,68 ₫`: exact, at most six decimals. */
export function dongOfMicro(amount: MicroVnd): string {
  const [whole = '0', fraction] = formatVnd(amount).split('.')
  return `${withDots(whole)}${fraction === undefined ? '' : `,${fraction}`}${NO_BREAK}₫`
}

/** For balances at a glance: fractions of a dong are cut off, so that nobody seems to have more than there is. */
export function dongWhole(amount: MicroVnd): string {
  return `${withDots((formatVnd(amount).split('.')[0] as string).replace(/^-0$/, '0'))}${NO_BREAK}₫`
}

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

const DAY = { timeZone: TIME_ZONE, day: '2-digit', month: '2-digit', year: 'numeric' } as const
const TIME = { ...DAY, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
/** Created lazily: the first one takes 15 ms. */
let dates: Intl.DateTimeFormat | undefined
let times: Intl.DateTimeFormat | undefined

/** For charts: whole numbers from 1.000 on, rounded down; chart.js formats its legend the same way. */
export function chartFigure(value: number, unit: string): string {
  const [whole = '0', fraction] = String(value >= 1000 ? Math.trunc(value) : Number(value.toFixed(6))).split('.')
  return `${withDots(whole)}${fraction === undefined ? '' : `,${fraction}`}${unit === '' ? '' : NO_BREAK + unit}`
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

/** A day in Vietnam, `21/11/2026`. */
export function date(value: Date): string {
  dates ??= new Intl.DateTimeFormat('en-GB', DAY)
  return dates.format(value)
}

/** The same for a report's day, `2026-11-21`. */
export function day(value: string): string {
  return value.split('-').reverse().join('/')
}

/** Date and time in Vietnam, to the second. */
export function time(value: Date): string {
  times ??= new Intl.DateTimeFormat('en-GB', TIME)
  return times.format(value).replace(', ', ' ')
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
