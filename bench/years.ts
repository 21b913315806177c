/**
 * A service after a year against an empty one, in one run: calls, starts, pages, exports, housekeeping, audit, backup,
 * restore, migration, retirement. Prints Markdown; asserts nothing but that the books balance.
 * Run: npm exec node bench/years.ts [accounts] [keys] [calls]
 */

import { describeExport, exportCsv } from './export-csv.ts'
import { businessPages, customerPages, deskPages, logPages } from './page-lists.ts'
import { type SignedIn, timesOf, withGateway } from './signed-in.ts'
import { measureHotPath, measureStarts } from './years/hot-path.ts'
import { auditAll, backUpAndRestore, measureUpkeep, migrateOld, retireMonth } from './years/upkeep.ts'
import { type Database, WALLETS, type World, withWorld } from './years/world.ts'

const [accounts = 1_000_000, keys = 2 * accounts, calls = 20 * accounts] = process.argv.slice(2).map(Number)

const SIZES = `select relname as name, reltuples::bigint::text as rows, pg_total_relation_size(oid)::text as bytes,
    pg_indexes_size(oid)::text as indexes
  from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' and reltuples > 1000
 order by pg_total_relation_size(oid) desc limit 20`

await withWorld({ accounts, keys, calls }, async world => {
  const { empty, year } = world
  for (const [name, wallets] of [
    ['one hot wallet', 1],
    [`${WALLETS} wallets`, WALLETS],
  ] as const) {
    const figures = await measureHotPath(world, wallets)
    table(
      `hold and settle, ${name}`,
      ['pairs/s', 'CPU of the process, µs', 'CPU of Postgres, µs', 'hold ms', 'settle ms'],
      [figuresOf(figures.empty), figuresOf(figures.year)],
    )
  }
  const starts = await measureStarts(world)
  table('start', ['s'], [[starts.empty], [starts.year]])
  await pages(world)
  const upkeep = [await measureUpkeep(empty), await measureUpkeep(year)]
  table(
    'housekeeping, s',
    [...upkeep[0]!.keys()],
    upkeep.map(seconds => [...seconds.values()]),
  )
  table('audit, s', ['whole'], [[await auditAll(empty)], [await auditAll(year)]])
  await sizes(year)
  const { backupSeconds, megabytes, restoreSeconds } = await backUpAndRestore(year, world)
  console.log(
    `\nbackup ${backupSeconds.toFixed(0)} s, ${megabytes.toFixed(0)} MB; restore ${restoreSeconds.toFixed(0)} s`,
  )
  const retired = await retireMonth(year)
  console.log(
    `\nretirement of a month: ${retired.rows} rows in ${retired.seconds.toFixed(1)} s, ${retired.logMegabytes.toFixed(0)} MB of log; ` +
      `table ${retired.sizeBefore.toFixed(0)} MB before, ${retired.sizeAfter.toFixed(0)} MB after a vacuum`,
  )
  await auditAll(year)
  const { migrations, seconds, waitMs } = await migrateOld(world)
  console.log(
    `\n${migrations} migrations in ${seconds.toFixed(1)} s; a statement waited ${waitMs.toFixed(0)} ms at most`,
  )
})

function figuresOf(figures: object): number[] {
  return Object.values(figures)
}

/** Rows: what was measured; columns: both databases and their ratio. */
function table(title: string, names: readonly string[], [empty, year]: readonly (readonly number[])[]): void {
  const text = (value: number): string => value.toFixed(value < 10 ? 3 : 0)
  console.log(`\n| ${title} | empty | a year | ratio |\n|---|--:|--:|--:|`)
  for (const [index, name] of names.entries()) {
    const [before = 0, after = 0] = [empty?.[index], year?.[index]]
    console.log(`| ${name} | ${text(before)} | ${text(after)} | ${(after / before).toFixed(2)} |`)
  }
}

async function pages({ empty, year }: World): Promise<void> {
  const [middle] = await year.sql.unsafe(
    `select call_id from usage where call_id >= uuidv7(interval '-45 days') order by call_id limit 1`,
  )
  const [largest] = await year.sql.unsafe(
    'select seq::integer as seq, call_id from usage where account_id = 1 order by seq desc limit 1',
  )
  const last = Math.floor(year.size.accounts * 0.99)
  const common = [...customerPages(Math.floor((largest?.seq ?? 0) / 2)), ...businessPages(), ...deskPages(last)]
  const ofCalls = [...logPages(middle?.call_id), `/usage/${largest?.call_id}`, `/operator/calls/${largest?.call_id}`]
  const before = new Map<string, string>()
  await signedInTo(empty, async signedIn => {
    for (const path of common) before.set(path, await medianOf(signedIn, path))
  })
  await signedInTo(year, async signedIn => {
    console.log('\n| page, median ms | empty | a year |\n|---|--:|--:|')
    for (const path of [...common, ...ofCalls])
      console.log(`| ${path} | ${before.get(path) ?? ''} | ${await medianOf(signedIn, path)} |`)
    console.log(
      `\nCSV of the largest account: ${describeExport(await exportCsv(signedIn, '/usage.csv?format=raw', 0))}`,
    )
  })
}

/** In ms, or why the page did not come. */
async function medianOf(signedIn: SignedIn, path: string): Promise<string> {
  try {
    return (await timesOf(signedIn, path)).median.toFixed(0)
  } catch (error) {
    return String(error)
  }
}

function signedInTo({ sql, url, folder }: Database, work: (signedIn: SignedIn) => Promise<void>): Promise<void> {
  return withGateway({ sql, url, folder, accountId: 1 }, work)
}

async function sizes({ sql }: Database): Promise<void> {
  const rows = await sql.unsafe(SIZES)
  console.log('\n| table | rows | MB | bytes a row | of them indexes |\n|---|--:|--:|--:|--:|')
  for (const { name, rows: count, bytes, indexes } of rows) {
    const each = (of: string): string => (Number(of) / Math.max(1, Number(count))).toFixed(0)
    console.log(`| ${name} | ${count} | ${(Number(bytes) / 2 ** 20).toFixed(0)} | ${each(bytes)} | ${each(indexes)} |`)
  }
}
