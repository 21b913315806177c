/**
 * The usage log as CSV (RFC 4180), oldest call first. Reads one page at a time and needs no more memory than for one page, even
 * for two million rows.
 */

import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import type { AnySql } from '../../lib/database.ts'
import { PRICE_PER_CODES } from '../types.ts'
import { findBounds, type SeqBounds } from './bounds.ts'
import { startOfDay } from './days.ts'
import { addHourly, firstSummedDay, readHourly } from './hourly.ts'
import { REPORT_LIMITS, type ReportLimits } from './limits.ts'
import { filterParameters, USAGE_FILTER } from './rows.ts'
import type { UsageFilter } from './types.ts'

export interface UsageExport {
  readonly accountId: number
  readonly filter: UsageFilter
  /** The names that customers gave their keys, by key number. */
  readonly keyLabels: ReadonlyMap<number, string>
}

const time = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
/** SQL that formats an amount like `formatVnd`: decimal VND, without rounding. */
const vnd = (name: string): string => `trim_scale(${name}_micro_vnd / 1000000.0)`
/** Postgres formats the numbers, so that a page costs this process almost nothing; only text from users is escaped here. */
const PAGE = `select seq, key_id, tag, entry_id, requested_name, endpoint,
    concat_ws(',', seq, ${time('opened_at')}, ${time('closed_at')}) as head,
    concat_ws(',', status, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, images, price_vnd,
      (array['${Object.keys(PRICE_PER_CODES).join("','")}'])[price_per], ${vnd('cost')}, ${vnd('charged')}, ${vnd('balance_after')},
      coalesce(first_byte_ms::text, ''), latency_ms, streamed::text, estimated::text, call_id,
      coalesce((select left(digest, 12) from catalogue c where c.catalogue_id = usage.catalogue_id), ''),
      extras_vnd) as tail,
    case when $12::text::boolean then concat_ws(',', coalesce(cache_write_tokens::text, ''),
      coalesce(${vnd('upstream_cost')}::text, '')) end as operators
  from usage
  where account_id = $1::text::bigint and seq > $2::text::bigint and seq < $3::text::bigint and ${USAGE_FILTER}
  order by seq limit $11::text::integer`

const COUNT = `select count(*)::integer as rows from usage
  where account_id = $1::text::bigint and seq > $2::text::bigint and seq < $3::text::bigint and ${USAGE_FILTER}`
/** Maximum number of rows to count one by one. */
const COUNTED_MAX = 100_000

const ENDPOINTS = new Map<number, string>(Object.entries(ENDPOINT_FACTS).map(([name, { code }]) => [code, name]))

/** Names of the columns that all exports have. Each export adds a column for the tag, and may add columns for operators. */
export const HEADER =
  'seq,opened_at,closed_at,key_id,key,model,requested_model,endpoint,status,input_tokens,output_tokens,cached_input_tokens,' +
  'reasoning_tokens,images,price_vnd,price_per,cost_vnd,charged_vnd,balance_after_vnd,first_byte_ms,latency_ms,streamed,' +
  'estimated,call_id,catalogue,extras_vnd'

/**
 * Yields the header, then chunks of a few hundred kilobytes. They contain every row settled before the export began, exactly
 * once: `seq` is assigned under the wallet's lock, so no row can appear behind the cursor.
 */
export async function* exportUsageCsv(
  sql: AnySql,
  account: UsageExport,
  limits: ReportLimits = REPORT_LIMITS,
): AsyncGenerator<string> {
  yield `${HEADER},tag\r\n`
  yield* exportRaw(sql, account, limits)
}

interface RawExport extends UsageExport {
  /** Text before each row; ends with a comma. */
  readonly prefix?: string
  /** Whether to add columns for operators: cache writes, and what the call cost the operator. */
  readonly forOperators?: boolean
}

/** Yields the rows of one account, without a header. */
export function exportRaw(
  sql: AnySql,
  { accountId, filter, keyLabels, prefix = '', forOperators = false }: RawExport,
  limits: ReportLimits,
): AsyncGenerator<string> {
  const readPage = (parameters: (string | null)[]) => sql.unsafe(PAGE, [...parameters, String(forOperators)])
  const write = (row: unknown): string => prefix + line(row as Row, keyLabels)
  return exportRows(sql, { accountId, filter, readPage, write }, limits)
}

export interface RowsExport {
  readonly accountId: number
  readonly filter: UsageFilter
  /**
   * Runs the query for a page. Its parameters: $1 is the account, $2 and $3 are exclusive bounds of `seq`, $4 to $10 belong to
   * USAGE_FILTER, and $11 is the maximum number of rows. Each row must have a `seq`.
   */
  readonly readPage: (parameters: (string | null)[]) => Promise<readonly unknown[]>
  /** Formats a row as a line, including the line break. */
  readonly write: (row: unknown) => string
}

/** Yields an account's usage rows as text, one page at a time. */
export async function* exportRows(
  sql: AnySql,
  { accountId, filter, readPage, write }: RowsExport,
  { csvPageRows, csvWindowRows }: ReportLimits,
): AsyncGenerator<string> {
  const bounds = await findBounds(sql, accountId, filter)
  if (bounds === null) return
  const parameters = filterParameters(filter)
  for (let after = bounds.afterSeq; after + 1 < bounds.beforeSeq; ) {
    const before = Math.min(bounds.beforeSeq, after + csvWindowRows + 1)
    const range = [String(accountId), String(after), String(before)]
    const rows = await readPage([...range, ...parameters, String(csvPageRows)])
    if (rows.length > 0) yield rows.map(write).join('')
    after = rows.length === csvPageRows ? Number((rows.at(-1) as Pick<Row, 'seq'>).seq) : before - 1
  }
}

/**
 * Returns an upper bound on the number of rows in an export. Exact if the period consists of full hours, none of its rows has been
 * retired (deleted, with only sums kept), and the account has at most COUNTED_MAX rows that are too old for the sums.
 */
export async function countUsage(
  sql: AnySql,
  { accountId, filter, calls: known }: Pick<UsageExport, 'accountId' | 'filter'> & { readonly calls?: number },
): Promise<number> {
  const bounds = await findBounds(sql, accountId, filter)
  if (bounds === null) return 0
  const { from = BEGINNING, to = END } = filter
  const summedFrom = startOfDay(firstSummedDay(new Date()))
  if (to <= summedFrom) return countRows(sql, { accountId, filter, bounds })
  const period = { from: fullHour(from, 'before'), to: fullHour(to, 'after') }
  const calls = known ?? addHourly(await readHourly(sql, { accountId, ...period, filter, per: 'day', by: 'key' })).calls
  const old = { ...filter, to: summedFrom }
  const older = from < summedFrom ? await findBounds(sql, accountId, old) : null
  const unsummed = older === null ? 0 : await countRows(sql, { accountId, filter: old, bounds: older })
  // The hourly sums also count retired rows. `bounds` excludes them, but may contain other journal rows: use the smaller count.
  return Math.max(0, Math.min(calls + unsummed, bounds.beforeSeq - bounds.afterSeq - 1))
}

/** Counts the rows within the bounds one by one if there are at most COUNTED_MAX journal rows, or else returns their number. */
async function countRows(
  sql: AnySql,
  { accountId, filter, bounds }: Pick<UsageExport, 'accountId' | 'filter'> & { readonly bounds: SeqBounds },
): Promise<number> {
  const { afterSeq, beforeSeq } = bounds
  const rows = Math.max(0, beforeSeq - afterSeq - 1)
  if (rows === 0 || rows > COUNTED_MAX) return rows
  const range = [String(accountId), String(afterSeq), String(beforeSeq)]
  return (await sql.unsafe(COUNT, [...range, ...filterParameters(filter)]))[0]!.rows
}

const BEGINNING = new Date('2000-01-01T00:00:00Z')
const END = new Date('2100-01-01T00:00:00Z')
const HOUR_MS = 3_600_000

function fullHour(time: Date, side: 'before' | 'after'): Date {
  const hours = time.getTime() / HOUR_MS
  return new Date((side === 'before' ? Math.floor(hours) : Math.ceil(hours)) * HOUR_MS)
}

interface Row {
  readonly seq: string
  readonly key_id: string
  readonly tag: string | null
  readonly entry_id: string
  readonly requested_name: string | null
  readonly endpoint: number
  readonly head: string
  readonly tail: string
  /** The columns for operators; null in customers' exports. */
  readonly operators: string | null
}

function line(row: Row, keyLabels: UsageExport['keyLabels']): string {
  const key = textCell(keyLabels.get(Number(row.key_id)) ?? '')
  const names = `${key},${textCell(row.entry_id)},${textCell(row.requested_name ?? '')}`
  const operators = row.operators === null ? '' : `,${row.operators}`
  return `${row.head},${row.key_id},${names},${ENDPOINTS.get(row.endpoint) ?? ''},${row.tail}${operators},${textCell(row.tag ?? '')}\r\n`
}

/**
 * Where a spreadsheet may find a formula: at the start of a cell, and after semicolons and tabs, where some programs split cells.
 */
const FORMULA = /(^|[;\t])([\s"']*[=+\-@＝＋－＠]|\s*[\t\r])/g

/** Puts an apostrophe before text that a spreadsheet would run as a formula, and adds quotes where RFC 4180 requires them. */
export function textCell(value: string): string {
  const safe = value.replace(FORMULA, `$1'$2`)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
