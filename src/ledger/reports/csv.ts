/**
 * The usage log as CSV (RFC 4180), oldest first, read page by page: two million rows need no more memory than one page.
 */

import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import type { AnySql } from '../../lib/database.ts'
import { PRICE_PER_CODES } from '../types.ts'
import { findBounds } from './bounds.ts'
import { dayOf } from './days.ts'
import { REPORT_LIMITS, type ReportLimits } from './limits.ts'
import { filterParameters, USAGE_FILTER } from './rows.ts'
import type { UsageFilter } from './types.ts'

export interface UsageExport {
  readonly accountId: number
  readonly filter: UsageFilter
  /** Key names by key number; customers chose them. */
  readonly keyLabels: ReadonlyMap<number, string>
}

const time = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
/** Decimal dong without rounding, as formatVnd writes it. */
const vnd = (name: string): string => `trim_scale(${name}_micro_vnd / 1000000.0)`
/** Postgres formats the numbers, so that a page costs this process almost nothing; only user text is escaped here. */
const PAGE = `select seq, key_id, entry_id, requested_name, endpoint,
    concat_ws(',', seq, ${time('opened_at')}, ${time('closed_at')}) as head,
    concat_ws(',', status, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, images, price_vnd,
      (array['${Object.keys(PRICE_PER_CODES).join("','")}'])[price_per], ${vnd('cost')}, ${vnd('charged')}, ${vnd('balance_after')},
      coalesce(first_byte_ms::text, ''), latency_ms, streamed::text, estimated::text, call_id,
      coalesce((select left(digest, 12) from catalogue c where c.catalogue_id = usage.catalogue_id), ''),
      extras_vnd) as tail,
    case when $11::text::boolean then concat_ws(',', coalesce(cache_write_tokens::text, ''),
      coalesce(${vnd('upstream_cost')}::text, '')) end as operators
  from usage
  where account_id = $1::text::bigint and seq > $2::text::bigint and seq < $3::text::bigint and ${USAGE_FILTER}
  order by seq limit $10::text::integer`
const EXPECTED = `select coalesce(sum(calls), 0)::text as calls, coalesce(sum(errors), 0)::text as errors from usage_daily
  where account_id = $1::text::bigint and ($2::text is null or key_id = $2::text::bigint) and ($3::text is null or entry_id = $3)
    and ($4::text is null or day >= $4::text::date) and ($5::text is null or day <= $5::text::date)`

const ENDPOINTS = new Map<number, string>(Object.entries(ENDPOINT_FACTS).map(([name, { code }]) => [code, name]))

/** The columns, in one line. */
export const HEADER =
  'seq,opened_at,closed_at,key_id,key,model,requested_model,endpoint,status,input_tokens,output_tokens,cached_input_tokens,' +
  'reasoning_tokens,images,price_vnd,price_per,cost_vnd,charged_vnd,balance_after_vnd,first_byte_ms,latency_ms,streamed,' +
  'estimated,call_id,catalogue,extras_vnd'

/**
 * Chunks of a few hundred kilobytes, header first. Covers what was settled when it began, each row once: `seq` is
 * assigned under the wallet's lock, so no row can appear behind the cursor.
 */
export async function* exportUsageCsv(
  sql: AnySql,
  account: UsageExport,
  limits: ReportLimits = REPORT_LIMITS,
): AsyncGenerator<string> {
  yield `${HEADER}\r\n`
  yield* exportRows(sql, account, limits)
}

interface RowsExport extends UsageExport {
  /** Prefix of each row; ends with a comma. */
  readonly prefix?: string
  /** Adds what only operators see: cache writes, and what the call cost them. */
  readonly forOperators?: boolean
}

/** The rows of one account, without a header. */
export async function* exportRows(
  sql: AnySql,
  { accountId, filter, keyLabels, prefix = '', forOperators = false }: RowsExport,
  { csvPageRows, csvWindowRows }: ReportLimits,
): AsyncGenerator<string> {
  const bounds = await findBounds(sql, accountId, filter)
  if (bounds === null) return
  const parameters = filterParameters(filter)
  for (let after = bounds.afterSeq; after + 1 < bounds.beforeSeq; ) {
    const before = Math.min(bounds.beforeSeq, after + csvWindowRows + 1)
    const range = [String(accountId), String(after), String(before)]
    const rows = await sql.unsafe(PAGE, [...range, ...parameters, String(csvPageRows), String(forOperators)])
    if (rows.length > 0) yield rows.map(row => prefix + line(row as unknown as Row, keyLabels)).join('')
    after = rows.length === csvPageRows ? Number(rows.at(-1)!.seq) : before - 1
  }
}

/** The most rows that an export can have: exact for whole days without a status filter, while none is retired. */
export async function countUsage(
  sql: AnySql,
  { accountId, filter }: Pick<UsageExport, 'accountId' | 'filter'>,
): Promise<number> {
  const { keyId, entryId, status, from, to } = filter
  const first = from === undefined ? null : dayOf(from)
  // A period that ends at midnight excludes the day that begins then.
  const last = to === undefined ? null : dayOf(new Date(to.getTime() - 1))
  const parameters = [String(accountId), keyId === undefined ? null : String(keyId), entryId ?? null, first, last]
  const bounds = await findBounds(sql, accountId, filter)
  if (bounds === null) return 0
  const { calls, errors } = (await sql.unsafe(EXPECTED, parameters))[0]!
  const isError = status === 'error' || (typeof status === 'number' && status >= 400)
  const matching = isError ? Number(errors) : Number(calls) - (status === undefined ? 0 : Number(errors))
  // Sums outlive retired rows.
  return Math.max(0, Math.min(matching, bounds.beforeSeq - bounds.afterSeq - 1))
}

interface Row {
  readonly seq: string
  readonly key_id: string
  readonly entry_id: string
  readonly requested_name: string | null
  readonly endpoint: number
  readonly head: string
  readonly tail: string
  /** Null for customers' exports. */
  readonly operators: string | null
}

function line(row: Row, keyLabels: UsageExport['keyLabels']): string {
  const key = textCell(keyLabels.get(Number(row.key_id)) ?? '')
  const names = `${key},${textCell(row.entry_id)},${textCell(row.requested_name ?? '')}`
  const operators = row.operators === null ? '' : `,${row.operators}`
  return `${row.head},${row.key_id},${names},${ENDPOINTS.get(row.endpoint) ?? ''},${row.tail}${operators}\r\n`
}

/**
 * The start of a cell, also for spreadsheets that split cells at semicolons or tabs, followed by what they would run as
 * a formula.
 */
const FORMULA = /(^|[;\t])([\s"']*[=+\-@＝＋－＠]|\s*[\t\r])/g

/**
 * Puts an apostrophe before text that a spreadsheet would run as a formula, and quotes where RFC 4180 requires them.
 */
export function textCell(value: string): string {
  const safe = value.replace(FORMULA, `$1'$2`)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
