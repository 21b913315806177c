/** The usage log as CSV (RFC 4180), oldest first: read page by page, so that two million rows need no more memory than one page. */

import type { AnySql } from '../../lib/database.ts'
import { formatVnd } from '../../lib/money.ts'
import { ENDPOINT_CODES } from '../types.ts'
import { findBounds } from './bounds.ts'
import { dayOf } from './days.ts'
import { REPORT_LIMITS, type ReportLimits } from './limits.ts'
import { filterParameters, toUsageRow, USAGE_COLUMNS, USAGE_FILTER } from './rows.ts'
import type { UsageFilter, UsageRow } from './types.ts'

export interface UsageExport {
  readonly accountId: number
  readonly filter: UsageFilter
  /** Names of keys by their number; they are text of the customer's. */
  readonly keyLabels: ReadonlyMap<number, string>
}

const PAGE = `select ${USAGE_COLUMNS} from usage
  where account_id = $1::text::bigint and seq > $2::text::bigint and seq < $3::text::bigint and ${USAGE_FILTER}
  order by seq limit $10::text::integer`
const EXPECTED = `select coalesce(sum(calls), 0)::text as calls, coalesce(sum(errors), 0)::text as errors from usage_daily
  where account_id = $1::text::bigint and ($2::text is null or key_id = $2::text::bigint) and ($3::text is null or entry_id = $3)
    and ($4::text is null or day >= $4::text::date) and ($5::text is null or day <= $5::text::date)`

const ENDPOINTS = new Map<number, string>(Object.entries(ENDPOINT_CODES).map(([name, code]) => [code, name]))

/** The header of each column, and how a cell is made. */
const COLUMNS: readonly (readonly [string, (row: UsageRow, keyLabels: UsageExport['keyLabels']) => string])[] = [
  ['seq', row => String(row.seq)],
  ['opened_at', row => row.openedAt.toISOString()],
  ['closed_at', row => row.closedAt.toISOString()],
  ['key_id', row => String(row.keyId)],
  ['key', (row, keyLabels) => textCell(keyLabels.get(row.keyId) ?? '')],
  ['model', row => textCell(row.entryId)],
  ['requested_model', row => textCell(row.requestedName ?? '')],
  ['endpoint', row => ENDPOINTS.get(row.endpoint) ?? ''],
  ['status', row => String(row.status)],
  ['input_tokens', row => String(row.inputTokens)],
  ['output_tokens', row => String(row.outputTokens)],
  ['cached_input_tokens', row => String(row.cachedInputTokens)],
  ['reasoning_tokens', row => String(row.reasoningTokens)],
  ['images', row => String(row.images)],
  ['price_vnd', row => String(row.priceVnd)],
  ['price_per', row => row.pricePer],
  ['cost_vnd', row => formatVnd(row.costMicroVnd)],
  ['charged_vnd', row => formatVnd(row.chargedMicroVnd)],
  ['balance_after_vnd', row => formatVnd(row.balanceAfterMicroVnd)],
  ['first_byte_ms', row => (row.firstByteMs === null ? '' : String(row.firstByteMs))],
  ['latency_ms', row => String(row.latencyMs)],
  ['streamed', row => String(row.streamed)],
  ['estimated', row => String(row.estimated)],
  ['call_id', row => row.callId],
]

/**
 * Chunks of some hundred kilobytes, the header first. Covers what was settled when it began. Every row once: a row's `seq`
 * is given out under the wallet's lock, so none can appear behind the cursor.
 */
export async function* exportUsageCsv(
  sql: AnySql,
  { accountId, filter, keyLabels }: UsageExport,
  { csvPageRows, csvWindowRows }: ReportLimits = REPORT_LIMITS,
): AsyncGenerator<string> {
  yield `${COLUMNS.map(([name]) => name).join(',')}\r\n`
  const bounds = await findBounds(sql, accountId, filter)
  if (bounds === null) return
  const parameters = filterParameters(filter)
  for (let after = bounds.afterSeq; after + 1 < bounds.beforeSeq; ) {
    const before = Math.min(bounds.beforeSeq, after + csvWindowRows + 1)
    const range = [String(accountId), String(after), String(before)]
    const rows = (await sql.unsafe(PAGE, [...range, ...parameters, String(csvPageRows)])).map(toUsageRow)
    if (rows.length > 0) yield rows.map(row => line(row, keyLabels)).join('')
    after = rows.length === csvPageRows ? rows.at(-1)!.seq : before - 1
  }
}

/** Rows that an export will have, at most: exact for whole days without a filter by a single status. */
export async function countUsage(
  sql: AnySql,
  { accountId, filter }: Pick<UsageExport, 'accountId' | 'filter'>,
): Promise<number> {
  const { keyId, entryId, status, from, to } = filter
  const first = from === undefined ? null : dayOf(from)
  // A period that ends at midnight does not reach into the day that begins then.
  const last = to === undefined ? null : dayOf(new Date(to.getTime() - 1))
  const parameters = [String(accountId), keyId === undefined ? null : String(keyId), entryId ?? null, first, last]
  const { calls, errors } = (await sql.unsafe(EXPECTED, parameters))[0]!
  if (status === undefined) return Number(calls)
  const isError = status === 'error' || (typeof status === 'number' && status >= 400)
  return isError ? Number(errors) : Number(calls) - Number(errors)
}

function line(row: UsageRow, keyLabels: UsageExport['keyLabels']): string {
  return `${COLUMNS.map(([, cell]) => cell(row, keyLabels)).join(',')}\r\n`
}

/** Text that a spreadsheet would run as a formula gets an apostrophe before it; quotes where RFC 4180 wants them. */
export function textCell(value: string): string {
  const safe = /^[\s]*[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
