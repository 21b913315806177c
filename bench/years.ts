/**
 * Benchmarks a database with a year of data against an empty one, in one run: calls, starts, pages, exports, housekeeping,
 * audit, backup, restore, migration, retirement. Prints Markdown; asserts nothing but that the books balance.
 * Run: npm exec node bench/years.ts [accounts] [keys] [calls]
 */

import { loadavg } from 'node:os'
import { describeExport, exportCsv } from './export-csv.ts'
import { businessPages, customerPages, deskPages, logPages } from './page-lists.ts'
import { type SignedIn, timesOf, withGateway } from './signed-in.ts'
import { measureHotPath, measureStarts } from './years/hot-path.ts'
import { migrateOld } from './years/migration.ts'
import { auditBooks, backUpAndRestore, measureUpkeep, retireMonth } from './years/upkeep.ts'
import { type Database, describe, measure, type Took, WALLETS, type World, withWorld } from './years/world.ts'

const [accounts = 1_000_000, keys = 2 * accounts, calls = 20 * accounts] = process.argv.slice(2).map(Number)

/**
 * The parts of the bench, in the order in which they run. Pages run before the hot path, whose new calls would slow them down
 * until housekeeping has added the calls to the totals. Parts that change or delete rows come last. `BENCH_YEARS_PARTS` selects
 * some parts by name, separated by commas.
 */
const PARTS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  starts,
  pages,
  hotPath,
  upkeep,
  audits,
  sizes,
  retirement,
  backup,
  migration,
}
const PAGE_TURNS = 5

const SIZES = `select relname as name, reltuples::bigint::text as rows, pg_total_relation_size(oid)::text as bytes,
    pg_indexes_size(oid)::text as indexes
  from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' and reltuples > 1000
 order by pg_total_relation_size(oid) desc limit 20`
/** Credits a thousand accounts, as a day of top-ups would, to give the incremental audit something new to read. */
const CREDIT_A_THOUSAND = `with lucky as (
  update wallet set seq = seq + 1, balance_micro_vnd = balance_micro_vnd + 1000000
   where account_id in (select account_id from wallet order by account_id limit 1000) returning account_id, seq, balance_micro_vnd),
gifts as (
  insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd)
  select account_id, seq, 1000000, 2, 'bench ' || seq, balance_micro_vnd from lucky)
select count(*)::integer as count from lucky`

await withWorld({ accounts, keys, calls }, async world => {
  const asked = process.env.BENCH_YEARS_PARTS?.split(',') ?? Object.keys(PARTS)
  for (const name of asked) {
    console.log(`\n${name}, load ${loadavg()[0]?.toFixed(0)}`)
    await PARTS[name]?.(world)
  }
})

function figuresOf(figures: object): number[] {
  return Object.values(figures)
}

async function hotPath(world: World): Promise<void> {
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
}

async function starts(world: World): Promise<void> {
  const { empty, year } = await measureStarts(world)
  table('start', ['s'], [[empty], [year]])
}

async function upkeep(world: World): Promise<void> {
  printTook('housekeeping', [await measureUpkeep(world.empty, world), await measureUpkeep(world.year, world)])
}

async function audits(world: World): Promise<void> {
  const both = async (database: Database): Promise<ReadonlyMap<string, Took>> => {
    const full = await auditBooks(database, world, 'full')
    const [gifts] = await database.sql.unsafe(CREDIT_A_THOUSAND)
    return new Map([
      ['full', full],
      [`incremental, after ${gifts?.count} accounts had a credit`, await auditBooks(database, world, 'incremental')],
    ])
  }
  printTook('audit', [await both(world.empty), await both(world.year)])
}

async function retirement(world: World): Promise<void> {
  const retired = await retireMonth(world.year, world)
  console.log(
    `\nretirement of a month: ${retired.rows} rows in ${describe(retired.took)}, ${retired.logMegabytes.toFixed(0)} MB of log; ` +
      `vacuum ${describe(retired.vacuum)}; table ${retired.sizeBefore.toFixed(0)} MB before, ${retired.sizeAfter.toFixed(0)} MB after it`,
  )
  await auditBooks(world.year, world, 'full')
}

async function backup(world: World): Promise<void> {
  const { backup, megabytes, restore } = await backUpAndRestore(world.year, world)
  console.log(`\nbackup ${describe(backup)}, ${megabytes.toFixed(0)} MB; restore ${describe(restore)}`)
}

async function migration(world: World): Promise<void> {
  console.log('\n| migration | s | CPU s | a statement waited, ms | locked |\n|---|--:|--:|--:|---|')
  for (const { name, took, waitMs, locked } of await migrateOld(world)) {
    const figures = [took.seconds.toFixed(2), took.cpuSeconds.toFixed(2), waitMs.toFixed(0), locked.join(', ')]
    console.log(`| ${name.replace('.sql', '')} | ${figures.join(' | ')} |`)
  }
}

/** Prints a row per figure, with its value in both databases and their ratio. */
function table(title: string, names: readonly string[], [empty, year]: readonly (readonly number[])[]): void {
  const text = (value: number): string => value.toFixed(value < 10 ? 3 : 0)
  console.log(`\n| ${title} | empty | a year | ratio |\n|---|--:|--:|--:|`)
  for (const [index, name] of names.entries()) {
    const [before = 0, after = 0] = [empty?.[index], year?.[index]]
    console.log(`| ${name} | ${text(before)} | ${text(after)} | ${(after / before).toFixed(2)} |`)
  }
}

/** Prints a row per task, with its time and CPU in both databases. */
function printTook(
  title: string,
  [empty, year]: readonly [ReadonlyMap<string, Took>, ReadonlyMap<string, Took>],
): void {
  console.log(`\n| ${title} | empty, s | CPU s | a year, s | CPU s |\n|---|--:|--:|--:|--:|`)
  for (const [name, after] of year) {
    const [before] = [empty.get(name)]
    const figures = [before?.seconds, before?.cpuSeconds, after.seconds, after.cpuSeconds]
    console.log(`| ${name} | ${figures.map(figure => figure?.toFixed(2) ?? '').join(' | ')} |`)
  }
}

async function pages(world: World): Promise<void> {
  const { empty, year } = world
  const [middle] = await year.sql.unsafe(
    `select call_id from usage where call_id >= (select uuidv7(interval '-45 days')) order by call_id limit 1`,
  )
  const [largest] = await year.sql.unsafe(
    'select seq::integer as seq, call_id from usage where account_id = 1 order by seq desc limit 1',
  )
  const last = Math.floor(year.size.accounts * 0.99)
  const common = [...customerPages(Math.floor((largest?.seq ?? 0) / 2)), ...businessPages(), ...deskPages(last)]
  const ofCalls = [...logPages(middle?.call_id), `/usage/${largest?.call_id}`, `/operator/calls/${largest?.call_id}`]
  const before = new Map<string, string>()
  const times = (signedIn: SignedIn, path: string): Promise<string> => pageTimes(world, signedIn, path)
  // For some seconds after its start, a gateway is busy with housekeeping, which would slow the first pages down.
  const settle = async ({ load }: SignedIn): Promise<void> => {
    for (const path of common) await load(path).catch(() => {})
  }
  await signedInTo(empty, async signedIn => {
    await settle(signedIn)
    for (const path of common) before.set(path, await times(signedIn, path))
  })
  await signedInTo(year, async signedIn => {
    await settle(signedIn)
    console.log('\n| page, ms | empty, median | CPU | a year, median | CPU |\n|---|--:|--:|--:|--:|')
    for (const path of [...common, ...ofCalls])
      console.log(`| ${path} | ${before.get(path) ?? '| '} | ${await times(signedIn, path)} |`)
    console.log(
      `\nCSV of the largest account: ${describeExport(await exportCsv(signedIn, '/usage.csv?format=raw', 0))}`,
    )
  })
}

/**
 * Formats a page's median time and the mean processor time of gateway and Postgres, in ms. If the page cannot be loaded, returns
 * the error instead.
 */
async function pageTimes(world: World, signedIn: SignedIn, path: string): Promise<string> {
  try {
    let median = 0
    const { cpuSeconds } = await measure(
      world,
      async () => {
        median = (await timesOf(signedIn, path, PAGE_TURNS)).median
      },
      signedIn.gatewayProcessId,
    )
    return `${median.toFixed(0)} | ${((cpuSeconds * 1_000) / PAGE_TURNS).toFixed(0)}`
  } catch (error) {
    return `${String(error)} | `
  }
}

function signedInTo({ sql, url, folder }: Database, work: (signedIn: SignedIn) => Promise<void>): Promise<void> {
  return withGateway({ sql, url, folder, accountId: 1 }, work)
}

async function sizes({ year: { sql } }: World): Promise<void> {
  const rows = await sql.unsafe(SIZES)
  console.log('\n| table | rows | MB | bytes a row | of them indexes |\n|---|--:|--:|--:|--:|')
  for (const { name, rows: count, bytes, indexes } of rows) {
    const each = (of: string): string => (Number(of) / Math.max(1, Number(count))).toFixed(0)
    console.log(`| ${name} | ${count} | ${(Number(bytes) / 2 ** 20).toFixed(0)} | ${each(bytes)} | ${each(indexes)} |`)
  }
}
