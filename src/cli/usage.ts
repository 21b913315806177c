/** `usage export`: writes the calls of all accounts to a CSV file, as input for `catalogue margin` or for human readers. */

import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { addDays, dayOf, isDay } from '../ledger/reports/days.ts'
import { exportOperatorsCsv } from '../ledger/reports/operators-csv.ts'
import { UsageError } from './arguments.ts'
import type { Action } from './commands.ts'

const DAYS = 30

const usageExport: Action = async ({ sql }, { words, options }) => {
  const path = resolve(words[0] as string)
  if (existsSync(path)) throw new UsageError(`${path} already exists; name a new file`)
  const last = options.to ?? dayOf(new Date())
  if (!isDay(last)) throw new UsageError(`${JSON.stringify(last)} is not a day; write it as 2026-11-21`)
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

/** Counts line ends outside quotes. Quoted fields hold text from customers, which may contain line ends of its own. */
function lineEnds(csv: string): number {
  const unquoted = csv.split('"').filter((_, index) => index % 2 === 0)
  return unquoted.reduce((sum, text) => sum + text.split('\r\n').length - 1, 0)
}

export const USAGE_ACTIONS: Readonly<Record<string, Action>> = { 'usage export': usageExport }
