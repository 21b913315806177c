/** Structured logs of metadata only: fields are named one by one, never a body, a header or a key. */

import { destination, type Logger, pino } from 'pino'

export type { Logger }

export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    destination({ dest: 2, sync: false }),
  )
}
