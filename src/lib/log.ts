/** Structured logs of metadata only: fields are listed one by one, never a body, a header or a key. */

import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { faultText } from './fault-text.ts'

export type { Logger }

/** Longest time a line is buffered, in ms; flushed when the process ends. */
const FLUSH_MS = 100
/** Most characters buffered. */
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
  /** Fields of every line. */
  readonly base?: Readonly<Record<string, number | string>>
  /** Where lines go instead of standard error. */
  readonly to?: DestinationStream
}

/** `cause` may be any error; only its kind and place are written, never its message. */
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

/** A pino destination would write an empty text every `FLUSH_MS` for as long as the process lives. */
const NOWHERE: DestinationStream = { write() {} }

/** Buffers lines and writes them together: one write per line would cost more than all the rest of logging. */
function standardError(): DestinationStream {
  return destination({ dest: 2, sync: false, minLength: GATHERED_CHARACTERS, periodicFlush: FLUSH_MS })
}
