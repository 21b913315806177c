/**
 * Formats amounts and times for pages and emails. English texts use the Vietnamese number format too, with dots between
 * thousands and a decimal comma. If they used the English format, 1.234 could mean either of two numbers.
 */

import { formatVnd, type MicroVnd } from './money.ts'

const TIME_ZONE = 'Asia/Ho_Chi_Minh'
/** Goes between a number and its unit, to keep them on one line. */
export const NO_BREAK = '\u00a0'

export function withDots(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, '.')
}

/** Formats an amount exactly, with at most six decimals: `50.000 ₫`, `1,68 ₫`. */
export function dongOfMicro(amount: MicroVnd): string {
  return dongOfText(formatVnd(amount))
}

/** Formats decimal dong such as `1.68` exactly: `1,68 ₫`. */
export function dongOfText(amount: string): string {
  const [whole = '0', fraction] = amount.split('.')
  return `${withDots(whole)}${fraction === undefined ? '' : `,${fraction}`}${NO_BREAK}₫`
}

/** Formats a balance to be read at a glance: drops fractions of a dong. Rounding up would show money that is not there. */
export function dongWhole(amount: MicroVnd): string {
  return dongWholeOfText(formatVnd(amount))
}

export function dongWholeOfText(amount: string): string {
  return dongOfText((amount.split('.')[0] as string).replace(/^-0$/, '0'))
}

const DAY = { timeZone: TIME_ZONE, day: '2-digit', month: '2-digit', year: 'numeric' } as const
const TIME = { ...DAY, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
/** Created on first use: creating the first formatter takes 15 ms. */
let dates: Intl.DateTimeFormat | undefined
let times: Intl.DateTimeFormat | undefined

/** The date in Vietnam, such as `21/11/2026`. */
export function date(value: Date): string {
  dates ??= new Intl.DateTimeFormat('en-GB', DAY)
  return dates.format(value)
}

/** Formats a report's day such as `2026-11-21` as `21/11/2026`. */
export function day(value: string): string {
  return value.split('-').reverse().join('/')
}

/** The date and time in Vietnam, to the second. */
export function time(value: Date): string {
  times ??= new Intl.DateTimeFormat('en-GB', TIME)
  return times.format(value).replace(', ', ' ')
}
