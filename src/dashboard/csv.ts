/** Streams CSV exports. Only a limited number may run at once, in total and for one account. */

import { Readable } from 'node:stream'
import { type Answer, type PageRequest, signedIn } from './page.ts'

/** Accounts with exports under way, and how many each has. */
const underWay = new Map<number, number>()

interface CsvExport {
  readonly chunks: AsyncIterable<string>
  readonly fileName: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns an export as a file to stream, or a 503 while too many are running. Ends exports whose reader stalls. */
export function csvAnswer(request: PageRequest, { chunks, fileName, headers = {} }: CsvExport): Answer {
  const { exportsMax, exportsPerAccountMax, exportStallMs } = request.options.limits
  const { accountId } = signedIn(request)
  const own = underWay.get(accountId) ?? 0
  const all = underWay.values().reduce((sum, count) => sum + count, 0)
  if (all >= exportsMax || own >= exportsPerAccountMax) {
    return { kind: 'problem', status: 503, message: 'usage.csv.busy', retryAfterSeconds: 60 }
  }
  underWay.set(accountId, own + 1)
  const body = Readable.from(watched(chunks, exportStallMs, () => body.destroy()))
  body.once('close', () => {
    const left = (underWay.get(accountId) as number) - 1
    if (left === 0) underWay.delete(accountId)
    else underWay.set(accountId, left)
  })
  return { kind: 'file', contentType: 'text/csv; charset=utf-8', body, fileName, headers }
}

/** Yields the chunks. Calls `onStall` if the reader takes longer than `stallMs` to ask for the next one. */
async function* watched(
  chunks: AsyncIterable<string>,
  stallMs: number,
  onStall: () => void,
): AsyncGenerator<string, void, void> {
  for await (const chunk of chunks) {
    const timer = setTimeout(onStall, stallMs)
    try {
      yield chunk
    } finally {
      clearTimeout(timer)
    }
  }
}
