/** Structured logs that hold only metadata: fields are listed one by one, and never include a body, a header or a key. */

import { type DestinationStream, type Logger, pino } from 'pino'
import { faultText } from './fault-text.ts'
import { standardError } from './standard-error.ts'

export type { Logger }

let timeMs = 0
let timeText = ''

/** pino's own `isoTime`, but formatted once per millisecond rather than once per line. */
function isoTime(): string {
  const now = Date.now()
  if (now !== timeMs) {
    timeMs = now
    timeText = `,"time":"${new Date(now).toISOString()}"`
  }
  return timeText
}

export interface LogOptions {
  /** Fields that every log line gets. */
  readonly base?: Readonly<Record<string, number | string>>
  /** Destination of the lines; by default standard error. */
  readonly to?: DestinationStream
}

/**
 * Creates a logger. Its field `cause` may be any error: the log gets the error's type and stack frames, but never its message.
 */
export function createLog(level: string, { base = {}, to }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: { ...base },
      timestamp: isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { cause: faultText },
    },
    to ?? (level === 'silent' ? NOWHERE : standardError()),
  )
}

/** Discards all lines. */
const NOWHERE: DestinationStream = { write() {} }
