/** Times in Vietnam, which is seven hours ahead of UTC all year. */

const OFFSET_MS = 7 * 3_600_000

/** Formats a time in Vietnam's time zone, as spreadsheets and banks read it: `2026-11-21 09:59:58`. */
export function vietnamTime(time: Date): string {
  return new Date(time.getTime() + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ')
}
