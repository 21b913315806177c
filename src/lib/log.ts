/** Structured logs of metadata only: fields are named one by one, never a body, a header or a key. */

import { destination, type Logger, pino } from 'pino'

export type { Logger }

/** Longest time that a line waits for others, in ms; at the end of the process none waits. */
const FLUSH_MS = 100
/** Lines that go out together before that time, in characters. */
const GATHERED_CHARACTERS = 16_000

let timeMs = 0
let timeText = ''

/** As pino's own, written once a millisecond and not once a line. */
function isoTime(): string {
  const now = Date.now()
  if (now !== timeMs) {
    timeMs = now
    timeText = `,"time":"${new Date(now).toISOString()}"`
  }
  return timeText
}

export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    // Lines go out together: a write of its own for each would cost more than all else that a line costs.
    destination({ dest: 2, sync: false, minLength: GATHERED_CHARACTERS, periodicFlush: FLUSH_MS }),
  )
}
