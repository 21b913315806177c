/** Reads how long an upstream asks us to wait. */

/** Longest wait that is passed on to the client, in seconds. */
const WAIT_SECONDS_MAX = 3_600

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Returns the wait in whole seconds, rounded up and at most 3,600, from `retry-after-ms` or `retry-after` (seconds or a date).
 * Null if both are missing or invalid. Header names must be in lower case.
 */
export function retryAfterSeconds(headers: Headers, nowMs: number): number | null {
  const milliseconds = Number(single(headers['retry-after-ms']) ?? Number.NaN)
  if (Number.isFinite(milliseconds)) return bounded(milliseconds / 1_000)
  const value = single(headers['retry-after'])?.trim()
  if (value === undefined || value === '') return null
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return bounded(seconds)
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : bounded((date - nowMs) / 1_000)
}

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const DURATION = /(\d{1,9}(?:\.\d{1,9})?) ?(ms|s|m|h)/g
/** `try again in 6m0s`, `Please retry after 28 seconds`. */
const WAIT = /\b(?:try again|retry) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|m|h)[a-z]* ?){1,3})/i

/**
 * Returns the wait that an error's text asks for, in whole seconds, rounded up and at most 3,600; null if it asks for none.
 * Streams and replies with status 200 have no header to say so (OpenAI's Responses API, read 2026-11).
 */
export function waitInText(text: string): number | null {
  const wait = WAIT.exec(text)?.[1]
  if (wait === undefined) return null
  const parts = [...wait.toLowerCase().matchAll(DURATION)]
  return bounded(parts.reduce((sum, [, count, unit]) => sum + Number(count) * MILLISECONDS[unit!]!, 0) / 1_000)
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

function bounded(seconds: number): number {
  return Math.min(Math.max(0, Math.ceil(seconds)), WAIT_SECONDS_MAX)
}
