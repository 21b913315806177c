/**
 * The operators' call log as CSV (RFC 4180), newest first. Reads one page at a time and needs no more memory than for one page.
 */

import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import type { AnySql } from '../../lib/database.ts'
import { formatVnd, type MicroVnd } from '../../lib/money.ts'
import { textCell } from './csv.ts'
import type { OperatorCall } from './operator-call.ts'
import { type CallFilter, findCalls } from './operator-calls.ts'

const PAGE_ROWS = 2_000
const LIMITS = { pageRowsMax: PAGE_ROWS, windows: [20_000] }
const ENDPOINTS = new Map<number, string>(Object.entries(ENDPOINT_FACTS).map(([name, { code }]) => [code, name]))

type Column = readonly [name: string, cell: (call: OperatorCall) => string]

const vnd = (amount: MicroVnd | null): string => (amount === null ? '' : formatVnd(amount))
const whole = (value: number | null): string => (value === null ? '' : String(value))

const COLUMNS: readonly Column[] = [
  ['request_id', call => textCell(call.requestId)],
  ['call_id', call => call.callId],
  ['opened_at', call => call.openedAt.toISOString()],
  ['closed_at', call => call.closedAt.toISOString()],
  ['account_id', call => String(call.accountId)],
  ['email', call => textCell(call.email)],
  ['key_id', call => String(call.keyId)],
  ['key', call => textCell(call.keyLabel)],
  ['model', call => textCell(call.entryId)],
  ['requested_model', call => textCell(call.requestedName ?? '')],
  ['endpoint', call => ENDPOINTS.get(call.endpoint) ?? ''],
  ['upstream', call => textCell(call.upstreamId ?? '')],
  ['attempts', call => whole(call.attempts?.length ?? null)],
  ['status', call => String(call.status)],
  ['error', call => call.errorCode ?? ''],
  ['first_byte_ms', call => whole(call.firstByteMs)],
  ['latency_ms', call => String(call.latencyMs)],
  ['streamed', call => String(call.streamed)],
  ['input_tokens', call => String(call.inputTokens)],
  ['cached_input_tokens', call => String(call.cachedInputTokens)],
  ['cache_write_tokens', call => whole(call.cacheWriteTokens)],
  ['output_tokens', call => String(call.outputTokens)],
  ['reasoning_tokens', call => String(call.reasoningTokens)],
  ['images', call => String(call.images)],
  ['estimated', call => String(call.estimated)],
  ['price_vnd', call => String(call.priceVnd)],
  ['price_per', call => call.pricePer],
  ['extras_vnd', call => String(call.extrasVnd)],
  ['cost_vnd', call => vnd(call.costMicroVnd)],
  ['charged_vnd', call => vnd(call.chargedMicroVnd)],
  ['refunded_at', call => call.refundedAt?.toISOString() ?? ''],
  ['catalogue', call => call.catalogue?.slice(0, 12) ?? ''],
  ['tag', call => textCell(call.tag ?? '')],
]

const COST: Column = ['upstream_cost_vnd', call => vnd(call.upstreamCostMicroVnd)]

export interface CallsExport {
  readonly filter: CallFilter
  /** Whether to add a final column with the operator's cost. */
  readonly withCosts: boolean
}

/** Yields the header, then one chunk per page. */
export async function* exportCallsCsv(sql: AnySql, { filter, withCosts }: CallsExport): AsyncGenerator<string> {
  const columns = withCosts ? [...COLUMNS, COST] : COLUMNS
  yield `${columns.map(([name]) => name).join(',')}\r\n`
  for (let before: string | null = ''; before !== null; ) {
    const { calls, next } = await findCalls(sql, { filter, limit: PAGE_ROWS, ...(before !== '' && { before }) }, LIMITS)
    if (calls.length > 0) yield calls.map(call => `${columns.map(([, cell]) => cell(call)).join(',')}\r\n`).join('')
    before = next
  }
}
