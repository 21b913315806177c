/** Structured logs of metadata only: fields are named one by one, never a body, a header or a key. */

import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { faultText } from './fault-text.ts'

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
      timestamp: isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { cause: faultText },
    },
    // Lines go out together: a write of its own for each would cost more than all else that a line costs.
    to ?? destination({ dest: 2, sync: false, minLength: GATHERED_CHARACTERS, periodicFlush: FLUSH_MS }),
  )
}
