/** Recurring periods in Vietnam's calendar, which is seven hours ahead of UTC all year. Weeks begin on Monday. */

export const PERIODS = ['daily', 'weekly', 'monthly'] as const
export type Period = (typeof PERIODS)[number]

const AHEAD_MS = 7 * 3_600_000

/** When the next period starts. */
export function nextPeriod(period: Period, now: Date): Date {
  const local = new Date(now.getTime() + AHEAD_MS)
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  const next = {
    daily: () => Date.UTC(year, month, day + 1),
    weekly: () => Date.UTC(year, month, day + 7 - ((local.getUTCDay() + 6) % 7)),
    monthly: () => Date.UTC(year, month + 1, 1),
  }
  return new Date(next[period]() - AHEAD_MS)
}

/** Formats a time in Vietnam's time zone, such as `2026-11-23 00:00`. */
export function vietnamTime(at: Date): string {
  return new Date(at.getTime() + AHEAD_MS).toISOString().slice(0, 16).replace('T', ' ')
}
