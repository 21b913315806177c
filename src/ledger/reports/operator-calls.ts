/**
 * Finds calls of one account or of all accounts, newest first. A search over all accounts scans call ids, which sort by start
 * time; a search in one account scans its journal. If the filter matches few calls, a search skips periods in which nothing can
 * match, and stops after a number of calls; the result says how far back it looked.
 */

import type { AnySql } from '../../lib/database.ts'
import { firstUuidAt, isUuid, timeOf } from '../../lib/ids.ts'
import { readRolledUpTo } from '../roll-up.ts'
import { findBounds } from './bounds.ts'
import { CALL_COLUMNS, CALL_SOURCES, type OperatorCall, toOperatorCall, UPSTREAM_OF_CALL } from './operator-call.ts'
import { statusRange } from './rows.ts'

export interface CallFilter {
  readonly accountId?: number
  /** Requires `accountId`, because each account numbers its own keys. */
  readonly keyId?: number
  /** Finds calls for which the client sent this model name: an entry's id, or a name that was mapped to an entry. */
  readonly requestedName?: string
  readonly entryId?: string
  readonly upstreamId?: string
  /** `ok` means below 400. */
  readonly status?: 'ok' | 'error' | number
  /** Finds calls that began at this time or later. */
  readonly from: Date
  /** Finds calls that began before this time. */
  readonly to: Date
  /** Finds calls with at least this latency, in ms. */
  readonly latencyMsMin?: number
}

export interface CallPage {
  readonly calls: readonly OperatorCall[]
  /**
   * Cursor: pass it back as `before` to continue; null at the end. A page may be short, or even empty, without being the last.
   */
  readonly next: string | null
  /** Only calls that began at this time or later have been searched; null if all have been. */
  readonly lookedBackTo: Date | null
}

export interface CallLimits {
  readonly pageRowsMax: number
  /**
   * Number of calls searched by each successive statement for one page. If the filter matches many calls, the first statement is
   * enough.
   */
  readonly windows: readonly number[]
}

export const CALL_LIMITS: CallLimits = { pageRowsMax: 200, windows: [500, 8_000] }

/** SQL for the filter. Its parameters, from $1 on, come from `filterParameters`. */
const MATCHES = `($1::text is null or key_id = $1::text::bigint)
  and ($2::text is null or coalesce(requested_name, entry_id) = $2) and ($3::text is null or entry_id = $3)
  and ($4::text is null or ${UPSTREAM_OF_CALL} = $4)
  and ($5::text is null or status between $5::text::integer and $6::text::integer)
  and ($7::text is null or latency_ms >= $7::text::integer)
  and call_id >= $8::text::uuid and call_id < $9::text::uuid`
/** SQL for the calls to search: those of all accounts before $10, or those of account $12 with a `seq` between $13 and $10. */
const SOURCES = {
  everybody: `from usage where call_id < $10::text::uuid and call_id >= $8::text::uuid order by call_id desc`,
  account: `from usage where account_id = $12::text::bigint and seq < $10::text::bigint and seq > $13::text::bigint
    order by seq desc`,
} as const

/**
 * SQL for a page. Every row also says how far back the statement looked; if no call matches, it returns one row that says only
 * this. Attempts make up most of a row's bytes, so they are read only if the filter names an upstream.
 */
const pageOf = (source: keyof typeof SOURCES, window: number, attempts: string): string => `
with looked as materialized (
  select account_id, seq, call_id, key_id, requested_name, entry_id, status, latency_ms, closed_at,
         ${attempts} ${SOURCES[source]}
   limit ${window}),
edge as (
  select count(*)::integer as looked, (array_agg(call_id order by ${source === 'account' ? 'seq' : 'call_id'}))[1] as edge_call,
         min(seq)::text as edge_seq, min(closed_at) as edge_closed_at from looked),
found as (
  select account_id, seq from looked where ${MATCHES}
   order by ${source === 'account' ? 'seq' : 'call_id'} desc limit $11::text::integer)
select edge.*, matching.* from edge left join lateral (
  select ${CALL_COLUMNS} from found join usage using (account_id, seq) ${CALL_SOURCES}) matching on true
 order by ${source === 'account' ? 'seq' : 'call_id'} desc`

/**
 * SQL for the call id from which to continue a search that has reached call $1 and ends at call $7. It skips calls that cannot match
 * according to the hourly sums of the roll-up. Null if no earlier call can match. Only the id that is found is cast to text: a cast in
 * the list would be what is sorted by, instead of the index.
 */
const JUMP = `
with hours as not materialized (
  select first_call_id, last_call_id from call_hourly
   where ($2::text is null or entry_id = $2) and ($3::text is null or upstream_id = $3)
     and ($4::text is null or status between $4::text::integer and $5::text::integer)
     and ($6::text is null or latency_ms_max >= $6::text::integer)
     and first_call_id < $1::text::uuid and last_call_id >= $7::text::uuid)
select case when exists (select from hours where last_call_id >= $1::text::uuid) then $1
       else (select last_call_id from hours order by last_call_id desc limit 1)::text end as call_id`

function attemptsFor({ upstreamId }: CallFilter): string {
  return upstreamId === undefined ? 'null::jsonb as attempts' : 'attempts'
}

interface Edge {
  readonly looked: number
  readonly edge_call: string | null
  readonly edge_seq: string | null
  readonly edge_closed_at: Date | null
}

interface Window {
  readonly edge: Edge
  readonly calls: readonly OperatorCall[]
}

/** Finds one page of calls. Rejects if `before` is not a cursor from a previous page. */
export function findCalls(
  sql: AnySql,
  { filter, before, limit }: { readonly filter: CallFilter; readonly before?: string; readonly limit: number },
  limits: CallLimits = CALL_LIMITS,
): Promise<CallPage> {
  const request = { filter, limit: Math.max(1, Math.min(limit, limits.pageRowsMax)), windows: limits.windows }
  return filter.accountId === undefined
    ? findAmongAll(sql, request, before)
    : findInAccount(sql, { ...request, accountId: filter.accountId }, before)
}

interface Request {
  readonly filter: CallFilter
  readonly limit: number
  readonly windows: readonly number[]
}

async function findAmongAll(sql: AnySql, { filter, limit, windows }: Request, before?: string): Promise<CallPage> {
  const first = firstUuidAt(filter.from.getTime())
  let position = firstUuidAt(filter.to.getTime())
  if (before !== undefined && isUuid(before) && before < position) position = before
  const parameters = filterParameters(filter)
  const rolledUpTo = isRolledUp(filter) ? await readRolledUpTo(sql) : null
  let mayJump = rolledUpTo !== null && timeOf(position) < rolledUpTo.getTime() - CALL_MS_MAX
  const calls: OperatorCall[] = []
  for (const window of windows) {
    if (mayJump) {
      const target = await jump(sql, filter, { first, before: position })
      if (target === null || target < first) return { calls, next: null, lookedBackTo: null }
      // `position` is exclusive, so move it just past the call to continue from.
      if (target < position) position = after(target)
    }
    const size = matchesAll(filter) ? limit : window
    const wanted = [...parameters, position, String(limit - calls.length)]
    const { edge, calls: found } = await look(sql, pageOf('everybody', size, attemptsFor(filter)), wanted)
    calls.push(...found)
    if (calls.length === limit) return more(calls, calls.at(-1)!.callId, calls.at(-1)!.callId)
    if (edge.looked < size || edge.edge_call === null) return { calls, next: null, lookedBackTo: null }
    position = edge.edge_call
    mayJump = rolledUpTo !== null && edge.edge_closed_at !== null && edge.edge_closed_at < rolledUpTo
  }
  return more(calls, position, position)
}

async function findInAccount(
  sql: AnySql,
  { filter, limit, windows, accountId }: Request & { readonly accountId: number },
  before?: string,
): Promise<CallPage> {
  const { keyId, entryId, status, from, to } = filter
  const bounds = await findBounds(sql, accountId, {
    from,
    // The filter applies to start times, but the journal is ordered by end times.
    to: new Date(to.getTime() + DAY_MS),
    ...(keyId !== undefined && { keyId }),
    ...(entryId !== undefined && { entryId }),
    ...(status !== undefined && { status }),
  })
  if (bounds === null) return { calls: [], next: null, lookedBackTo: null }
  let position = bounds.beforeSeq
  if (before !== undefined && /^\d{1,15}$/.test(before)) position = Math.min(position, Number(before))
  const calls: OperatorCall[] = []
  for (const window of windows) {
    const wanted = [...filterParameters(filter), String(position), String(limit - calls.length)]
    const range = [...wanted, String(accountId), String(bounds.afterSeq)]
    const { edge, calls: found } = await look(sql, pageOf('account', window, attemptsFor(filter)), range)
    calls.push(...found)
    const last = calls.at(-1)
    if (calls.length === limit && last !== undefined) return more(calls, String(last.seq), last.callId)
    if (edge.looked < window || edge.edge_seq === null) return { calls, next: null, lookedBackTo: null }
    position = Number(edge.edge_seq)
    if (window === windows.at(-1)) return more(calls, String(position), edge.edge_call ?? '')
  }
  return { calls, next: null, lookedBackTo: null }
}

/** Maximum duration of a call, plus the largest difference between two clocks. */
const CALL_MS_MAX = 20 * 60_000
const DAY_MS = 86_400_000

function more(calls: readonly OperatorCall[], next: string, edgeCall: string): CallPage {
  return { calls, next, lookedBackTo: new Date(timeOf(edgeCall)) }
}

/** The id that sorts directly after this one. */
function after(callId: string): string {
  return `${callId.slice(0, -12)}${(BigInt(`0x${callId.slice(-12)}`) + 1n).toString(16).padStart(12, '0').slice(-12)}`
}

async function look(sql: AnySql, statement: string, parameters: readonly (string | null)[]): Promise<Window> {
  const rows = await sql.unsafe(statement, [...parameters])
  return {
    edge: rows[0] as unknown as Edge,
    calls: rows.filter(row => row.call_id !== null).map(toOperatorCall),
  }
}

async function jump(
  sql: AnySql,
  filter: CallFilter,
  { first, before }: { readonly first: string; readonly before: string },
): Promise<string | null> {
  const [statusMin, statusMax] = statusRange(filter.status)
  const { entryId = null, upstreamId = null, latencyMsMin } = filter
  const latency = latencyMsMin === undefined ? null : String(latencyMsMin)
  const [row] = await sql.unsafe(JUMP, [before, entryId, upstreamId, statusMin, statusMax, latency, first])
  return row?.call_id ?? null
}

function isRolledUp({ entryId, upstreamId, status, latencyMsMin }: CallFilter): boolean {
  return [entryId, upstreamId, status, latencyMsMin].some(value => value !== undefined)
}

function matchesAll(filter: CallFilter): boolean {
  return !isRolledUp(filter) && filter.keyId === undefined && filter.requestedName === undefined
}

/** The parameters of MATCHES. */
function filterParameters(filter: CallFilter): (string | null)[] {
  const { keyId, requestedName = null, entryId = null, upstreamId = null, status, from, to, latencyMsMin } = filter
  return [
    keyId === undefined ? null : String(keyId),
    requestedName,
    entryId,
    upstreamId,
    ...statusRange(status),
    latencyMsMin === undefined ? null : String(latencyMsMin),
    firstUuidAt(from.getTime()),
    firstUuidAt(to.getTime()),
  ]
}
