/** Structured logs of metadata only: fields are named one by one, never a body, a header or a key. */

import { destination, type Logger, pino } from 'pino'

export type { Logger }

/** Longest time that a line waits for others, in ms; at the end of the process none waits. */
const FLUSH_MS = 100

/** `base` is in every line. */
export function createLog(level: string, base: Readonly<Record<string, number | string>> = {}): Logger {
  return pino(
    {
      level,
      base: { ...base },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    // Lines go out together: a write of its own for each would cost more than all else that a line costs.
    destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: FLUSH_MS }),
  )
}
