/** `usage export`: writes the calls of all accounts to a CSV file. `usage recount`: mends the sums that reports read. */

import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { recountDays } from '../ledger/recount.ts'
import { addDays, dayOf, isDay } from '../ledger/reports/days.ts'
import { exportOperatorsCsv } from '../ledger/reports/operators-csv.ts'
import { UsageError } from './arguments.ts'
import type { Action } from './commands.ts'

const DAYS = 30

const usageExport: Action = async ({ sql }, { words, options }) => {
  const path = resolve(words[0] as string)
  if (existsSync(path)) throw new UsageError(`${path} already exists; name a new file`)
  const last = lastDay(options.to)
  const first = options.from ?? addDays(last, 1 - DAYS)
  let rows = -1
  async function* counted() {
    for await (const chunk of exportOperatorsCsv(sql, { from: first, to: addDays(last, 1) })) {
      rows += lineEnds(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(Readable.from(counted()), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  } catch (error) {
    rmSync(path, { force: true })
    if (error instanceof RangeError) throw new UsageError(`${first} to ${last}: ${error.message}`)
    throw error
  }
  return { data: { file: path, from: first, to: last, rows }, text: `${rows} calls of ${first} to ${last} in ${path}` }
}

const RECOUNT_DAYS_MAX = 400

const usageRecount: Action = async ({ sql }, { options }) => {
  const first = options.from
  if (first === undefined) throw new UsageError('--from is required: the first day to recount')
  const last = lastDay(options.to)
  if (!isDay(first)) throw notDay(first)
  if (first > last) throw new UsageError('--from must not be after --to')
  if (addDays(first, RECOUNT_DAYS_MAX) <= last) throw new UsageError(`recount at most ${RECOUNT_DAYS_MAX} days at once`)
  const { days, hoursKept } = await recountDays(sql, { from: first, to: addDays(last, 1) })
  return {
    data: { from: first, to: last, days, hours_kept: hoursKept },
    text: [
      `${days} days recounted. Run a full audit to see that the sums agree.`,
      ...(hoursKept.length === 0 ? [] : [`Hours kept, because calls of the day are retired: ${hoursKept.join(', ')}`]),
    ].join('\n'),
  }
}

function lastDay(to: string | undefined): string {
  const last = to ?? dayOf(new Date())
  if (!isDay(last)) throw notDay(last)
  return last
}

function notDay(text: string): UsageError {
  return new UsageError(`${JSON.stringify(text)} is not a day; write it as 2026-11-21`)
}

/** Counts line ends outside quotes. Quoted fields hold text from customers, which may contain line ends of its own. */
function lineEnds(csv: string): number {
  const unquoted = csv.split('"').filter((_, index) => index % 2 === 0)
  return unquoted.reduce((sum, text) => sum + text.split('\r\n').length - 1, 0)
}

export const USAGE_ACTIONS: Readonly<Record<string, Action>> = {
  'usage export': usageExport,
  'usage recount': usageRecount,
}
