/** Vietnamese calendar days, and the longest period of a report. */

import { vietnamTime } from '../../lib/vietnam-time.ts'
import type { Day, DayRange } from './types.ts'

const DAYS_MAX = 400
/** Days of this century, which every timestamp can hold. Date fields send `0002-01-01` while a year is typed. */
const DAY = /^20\d{2}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

/** The Vietnamese day of a time. Vietnam has been at UTC+7 without daylight saving time since 1975. */
export function dayOf(time: Date): Day {
  return vietnamTime(time).slice(0, 10)
}

/** Midnight in Vietnam at which the day begins. */
export function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00+07:00`)
}

/** Adds a number of days: `2026-11-21` and 1 give `2026-11-22`. */
export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

/** Whether the text is a valid date written as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && addDays(text, 0) === text
}

/** Throws RangeError for an impossible period; the message says what is wrong with it. */
export function checkRange({ from, to }: DayRange): void {
  if (!isDay(from) || !isDay(to)) throw new RangeError('a day must be written like 2026-11-21')
  if (from >= to) throw new RangeError('the first day must come before the last')
  if (addDays(from, DAYS_MAX) < to) throw new RangeError(`a report covers at most ${DAYS_MAX} days`)
}
