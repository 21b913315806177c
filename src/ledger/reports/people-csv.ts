/**
 * Exports the usage log for spreadsheets: UTF-8 with a byte order mark, Vietnamese local times, headings and words in the
 * reader's language. In every language, commas separate cells and a dot is the decimal point, because most programs would read
 * 1,68 as 168.
 */

import type { AnySql } from '../../lib/database.ts'
import { requestIdOf } from '../../lib/ids.ts'
import { PRICE_PER_CODES } from '../types.ts'
import { exportRows, textCell } from './csv.ts'
import { REPORT_LIMITS, type ReportLimits } from './limits.ts'
import { USAGE_FILTER } from './rows.ts'
import type { UsageFilter, UsageRow } from './types.ts'

export interface PeopleLayout {
  /** One heading for each of `PEOPLE_COLUMNS`. */
  readonly headings: readonly string[]
  readonly yes: string
  readonly no: string
  readonly keyLabel: (keyId: number) => string
  /** Describes how a call ended. */
  readonly outcome: (ended: Pick<UsageRow, 'status' | 'errorCode'>) => string
  readonly pricePer: (per: UsageRow['pricePer']) => string
}

export const PEOPLE_COLUMNS = [
  'time',
  'model',
  'requested',
  'key',
  'tag',
  'status',
  'outcome',
  'input',
  'cached',
  'output',
  'reasoning',
  'images',
  'charged',
  'price',
  'per',
  'balance',
  'first_byte',
  'latency',
  'streamed',
  'estimated',
  'request',
  'extras',
] as const

/** Postgres formats the numbers, to save this process CPU time. */
const PAGE = `select seq, key_id, entry_id, requested_name, tag, status, error_code, price_per, streamed, estimated, call_id, extras_vnd,
    to_char(closed_at at time zone 'Asia/Ho_Chi_Minh', 'YYYY-MM-DD HH24:MI:SS') as ended,
    concat_ws(',', input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, images,
      trim_scale(charged_micro_vnd / 1000000.0), price_vnd) as figures,
    trim_scale(balance_after_micro_vnd / 1000000.0)::text as balance,
    concat_ws(',', coalesce(first_byte_ms::text, ''), latency_ms) as times,
    (select request_id from client_request c
      where c.call_id = usage.call_id and c.account_id = usage.account_id) as request_id
  from usage
  where account_id = $1::text::bigint and seq > $2::text::bigint and seq < $3::text::bigint and ${USAGE_FILTER}
  order by seq limit $11::text::integer`

interface Row {
  readonly seq: string
  readonly key_id: string
  readonly entry_id: string
  readonly requested_name: string | null
  readonly tag: string | null
  readonly status: number
  readonly error_code: string | null
  readonly price_per: number
  readonly streamed: boolean
  readonly estimated: boolean
  readonly call_id: string
  readonly extras_vnd: string
  readonly ended: string
  readonly figures: string
  readonly balance: string
  readonly times: string
  readonly request_id: string | null
}

const BYTE_ORDER_MARK = '\ufeff'
const PRICE_PER = new Map(Object.entries(PRICE_PER_CODES).map(([name, code]) => [code, name as UsageRow['pricePer']]))

/** Yields chunks like `exportUsageCsv`, oldest call first. */
export async function* exportForPeople(
  sql: AnySql,
  {
    accountId,
    filter,
    layout,
  }: { readonly accountId: number; readonly filter: UsageFilter; readonly layout: PeopleLayout },
  limits: ReportLimits = REPORT_LIMITS,
): AsyncGenerator<string> {
  yield `${BYTE_ORDER_MARK}${layout.headings.map(textCell).join(',')}\r\n`
  const readPage = (parameters: (string | null)[]) => sql.unsafe(PAGE, parameters)
  yield* exportRows(sql, { accountId, filter, readPage, write: row => lineOf(row as Row, layout) }, limits)
}

function lineOf(row: Row, { yes, no, keyLabel, outcome, pricePer }: PeopleLayout): string {
  const { status, error_code: errorCode } = row
  const cells = [
    row.ended,
    textCell(row.entry_id),
    textCell(row.requested_name ?? ''),
    textCell(keyLabel(Number(row.key_id))),
    textCell(row.tag ?? ''),
    status,
    textCell(outcome({ status, errorCode })),
    row.figures,
    textCell(pricePer(PRICE_PER.get(row.price_per as never) as UsageRow['pricePer'])),
    row.balance,
    row.times,
    row.streamed ? yes : no,
    row.estimated ? yes : no,
    textCell(row.request_id ?? requestIdOf(row.call_id)),
    row.extras_vnd,
  ]
  return `${cells.join(',')}\r\n`
}
