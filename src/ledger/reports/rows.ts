/**
 * Lists an account's calls, newest first. Pages are found by `seq` rather than by offset, so that the last page is as fast as
 * the first.
 */

import type { AnySql } from '../../lib/database.ts'
import { microVnd } from '../../lib/money.ts'
import { PRICE_PER_CODES } from '../types.ts'
import { findBounds } from './bounds.ts'
import { REPORT_LIMITS, type ReportLimits } from './limits.ts'
import type { UsageFilter, UsageRow } from './types.ts'

export const USAGE_COLUMNS = `seq, call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens,
  cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
  balance_after_micro_vnd, first_byte_ms, latency_ms, streamed, estimated, opened_at, closed_at, extras_vnd, error_code, tag,
  (select digest from catalogue c where c.catalogue_id = usage.catalogue_id) as catalogue`
/** SQL for the filter. Its parameters, $4 to $10, come from `filterParameters`. */
export const USAGE_FILTER = `($4::text is null or key_id = $4::text::bigint) and ($5::text is null or entry_id = $5)
  and ($6::text is null or status between $6::text::integer and $7::text::integer)
  and ($8::text is null or closed_at >= $8::text::timestamptz) and ($9::text is null or closed_at < $9::text::timestamptz)
  and ($10::text is null or tag = $10)`

const PAGE = `select ${USAGE_COLUMNS} from usage
  where account_id = $1::text::bigint and seq > $2::text::bigint and seq < $3::text::bigint and ${USAGE_FILTER}
  order by seq desc limit $11::text::integer`

const ONE = `select ${USAGE_COLUMNS} from usage where call_id = $1::text::uuid and account_id = $2::text::bigint`

export interface UsagePage {
  readonly rows: readonly UsageRow[]
  /**
   * Cursor: pass it as `beforeSeq` to continue; null at the end. If few rows match the filter, a page may be short or even
   * empty without being the last.
   */
  readonly nextBeforeSeq: number | null
}

export async function readUsageRows(
  sql: AnySql,
  {
    accountId,
    filter,
    beforeSeq,
    limit = 50,
  }: { accountId: number; filter: UsageFilter; beforeSeq?: number; limit?: number },
  { pageRowsMax, windowRows, windowsMax }: ReportLimits = REPORT_LIMITS,
): Promise<UsagePage> {
  const bounds = await findBounds(sql, accountId, filter)
  if (bounds === null) return { rows: [], nextBeforeSeq: null }
  const wanted = Math.max(1, Math.min(limit, pageRowsMax))
  const rows: UsageRow[] = []
  let before = Math.min(beforeSeq ?? bounds.beforeSeq, bounds.beforeSeq)
  for (let windows = 0; windows < windowsMax && before > bounds.afterSeq + 1; windows++) {
    const after = Math.max(bounds.afterSeq, before - windowRows - 1)
    const range = [String(accountId), String(after), String(before)]
    const found = await sql.unsafe(PAGE, [...range, ...filterParameters(filter), String(wanted - rows.length)])
    rows.push(...found.map(toUsageRow))
    if (rows.length === wanted) return { rows, nextBeforeSeq: rows.at(-1)!.seq }
    before = after + 1
  }
  return { rows, nextBeforeSeq: before > bounds.afterSeq + 1 ? before : null }
}

/** Returns one call of the account; null if it has not ended yet or is another account's. */
export async function readUsageRow(
  sql: AnySql,
  { accountId, callId }: { accountId: number; callId: string },
): Promise<UsageRow | null> {
  const [row] = await sql.unsafe(ONE, [callId, String(accountId)])
  return row === undefined ? null : toUsageRow(row)
}

export function filterParameters({ keyId, entryId, status, from, to, tag }: UsageFilter): (string | null)[] {
  const [statusMin, statusMax] = statusRange(status)
  return [
    text(keyId ?? null),
    entryId ?? null,
    statusMin,
    statusMax,
    from?.toISOString() ?? null,
    to?.toISOString() ?? null,
    tag ?? null,
  ]
}

/** The lowest and the highest HTTP status that a filter matches, both inclusive; null means no bound. */
export function statusRange(status: UsageFilter['status']): readonly [string | null, string | null] {
  if (status === 'ok') return ['0', '399']
  if (status === 'error') return ['400', '999']
  return [text(status ?? null), text(status ?? null)]
}

function text(value: number | null): string | null {
  return value === null ? null : String(value)
}

const PRICE_PER = new Map(Object.entries(PRICE_PER_CODES).map(([name, code]) => [code, name as UsageRow['pricePer']]))

interface Row {
  readonly seq: string
  readonly call_id: string
  readonly key_id: string
  readonly entry_id: string
  readonly requested_name: string | null
  readonly endpoint: number
  readonly status: number
  readonly input_tokens: string
  readonly output_tokens: string
  readonly cached_input_tokens: string
  readonly reasoning_tokens: string
  readonly images: number
  readonly price_vnd: string
  readonly price_per: (typeof PRICE_PER_CODES)[UsageRow['pricePer']]
  readonly cost_micro_vnd: string
  readonly charged_micro_vnd: string
  readonly balance_after_micro_vnd: string
  readonly first_byte_ms: number | null
  readonly latency_ms: number
  readonly streamed: boolean
  readonly estimated: boolean
  readonly opened_at: Date
  readonly closed_at: Date
  readonly extras_vnd: string
  readonly error_code: string | null
  readonly tag: string | null
  readonly catalogue: string | null
}

export function toUsageRow(row: unknown): UsageRow {
  const from = row as Row
  return {
    seq: Number(from.seq),
    callId: from.call_id,
    openedAt: from.opened_at,
    closedAt: from.closed_at,
    catalogue: from.catalogue,
    keyId: Number(from.key_id),
    entryId: from.entry_id,
    requestedName: from.requested_name,
    endpoint: from.endpoint,
    status: from.status,
    errorCode: from.error_code,
    tag: from.tag,
    inputTokens: Number(from.input_tokens),
    outputTokens: Number(from.output_tokens),
    cachedInputTokens: Number(from.cached_input_tokens),
    reasoningTokens: Number(from.reasoning_tokens),
    images: from.images,
    priceVnd: Number(from.price_vnd),
    pricePer: PRICE_PER.get(from.price_per) as UsageRow['pricePer'],
    costMicroVnd: microVnd(BigInt(from.cost_micro_vnd)),
    chargedMicroVnd: microVnd(BigInt(from.charged_micro_vnd)),
    balanceAfterMicroVnd: microVnd(BigInt(from.balance_after_micro_vnd)),
    firstByteMs: from.first_byte_ms,
    latencyMs: from.latency_ms,
    streamed: from.streamed,
    estimated: from.estimated,
    extrasVnd: Number(from.extras_vnd),
  }
}
