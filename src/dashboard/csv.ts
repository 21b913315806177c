/** Streams CSV exports. Only a limited number may run at once. */

import { Readable } from 'node:stream'
import type { Answer, PageRequest } from './page.ts'

let exports = 0

interface CsvExport {
  readonly chunks: AsyncIterable<string>
  readonly fileName: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns an export as a file to stream, or a 503 while too many are running. */
export function csvAnswer({ options }: PageRequest, { chunks, fileName, headers = {} }: CsvExport): Answer {
  if (exports >= options.limits.exportsMax) {
    return { kind: 'problem', status: 503, message: 'usage.csv.busy', retryAfterSeconds: 60 }
  }
  exports++
  const body = Readable.from(chunks)
  body.once('close', () => exports--)
  return { kind: 'file', contentType: 'text/csv; charset=utf-8', body, fileName, headers }
}
