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

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

function bounded(seconds: number): number {
  return Math.min(Math.max(0, Math.ceil(seconds)), WAIT_SECONDS_MAX)
}
