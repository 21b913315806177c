/** Structured logs of metadata only: fields are named one by one, never a body, a header or a key. */

import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { faultText } from './fault-text.ts'

export type { Logger }

/** Longest time that a line waits for others, in ms; at the end of the process none waits. */
const FLUSH_MS = 100

export interface LogOptions {
  /** In every line. */
  readonly base?: Readonly<Record<string, number | string>>
  /** Instead of standard error. */
  readonly to?: DestinationStream
}

/** A line's `cause` may be any error: what is written of it is its kind and place, never its message. */
export function createLog(level: string, { base = {}, to }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: { ...base },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { cause: faultText },
    },
    // Lines go out together: a write of its own for each would cost more than all else that a line costs.
    to ?? destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: FLUSH_MS }),
  )
}
