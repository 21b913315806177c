/** Figures as people write them. Dong have dots between thousands and a comma before fractions in both languages. */

import type { Language } from '../../accounts/types.ts'
import { formatVnd, type MicroVnd } from '../../lib/money.ts'

const TIME_ZONE = 'Asia/Ho_Chi_Minh'
const LOCALES: Readonly<Record<Language, string>> = { vi: 'vi-VN', en: 'en-GB' }
/** Between a figure and its unit, so that they stay on one line. */
const NO_BREAK = '\u00a0'

function withDots(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, '.')
}

/** `50.000 ₫`, `1,68 ₫`: exact, at most six decimals. */
export function dongOfMicro(amount: MicroVnd): string {
  const [whole = '0', fraction] = formatVnd(amount).split('.')
  return `${withDots(whole)}${fraction === undefined ? '' : `,${fraction}`}${NO_BREAK}₫`
}

/** For balances at a glance: fractions of a dong are left out, towards zero, so that nobody seems to have more than there is. */
export function dongWhole(amount: MicroVnd): string {
  return `${withDots((formatVnd(amount).split('.')[0] as string).replace(/^-0$/, '0'))}${NO_BREAK}₫`
}

/** `50.000 ₫` of whole dong. */
export function dong(amount: number | bigint): string {
  return `${withDots(amount.toString())}${NO_BREAK}₫`
}

const counts = formatters(locale => new Intl.NumberFormat(locale))
const dates = formatters(
  locale => new Intl.DateTimeFormat(locale, { timeZone: TIME_ZONE, day: '2-digit', month: '2-digit', year: 'numeric' }),
)
const times = formatters(
  locale =>
    new Intl.DateTimeFormat(locale, {
      timeZone: TIME_ZONE,
      day: '2-digit',
      month: '2-digit',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    }),
)

function formatters<Format>(create: (locale: string) => Format): Readonly<Record<Language, Format>> {
  return { vi: create(LOCALES.vi), en: create(LOCALES.en) }
}

export function count(language: Language, value: number | bigint): string {
  return counts[language].format(value)
}

/** `1M`, `128K`, as the vendors of models write them in every language. */
export function compactCount(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(2))}M`
  return value >= 1000 ? `${Math.round(value / 1000)}K` : String(value)
}

/** Day in Vietnam. */
export function date(language: Language, value: Date): string {
  return dates[language].format(value)
}

/** Day and time in Vietnam, to the second. */
export function time(language: Language, value: Date): string {
  const parts = Object.fromEntries(times[language].formatToParts(value).map(part => [part.type, part.value]))
  return `${parts.day}/${parts.month}/${parts.year} ${parts.hour}:${parts.minute}:${parts.second}`
}

/** `340 ms`, `12,4 s`. */
export function duration(language: Language, milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}${NO_BREAK}ms`
  const seconds = (milliseconds / 1000).toFixed(1)
  return `${language === 'vi' ? seconds.replace('.', ',') : seconds}${NO_BREAK}s`
}
