/** Structured logs that hold only metadata: fields are listed one by one, and never include a body, a header or a key. */

import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { faultText } from './fault-text.ts'

export type { Logger }

/** Longest time a line stays in the buffer, in ms; the buffer is also flushed when the process exits. */
const FLUSH_MS = 100
/** Number of buffered characters that triggers a write. */
const GATHERED_CHARACTERS = 16_000

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

/** Discards all lines. A pino destination would not do: even with nothing to log, it writes an empty text every `FLUSH_MS`. */
const NOWHERE: DestinationStream = { write() {} }

/** Buffers lines and writes them together: a write per line would cost more than the rest of logging. */
function standardError(): DestinationStream {
  return destination({ dest: 2, sync: false, minLength: GATHERED_CHARACTERS, periodicFlush: FLUSH_MS })
}
