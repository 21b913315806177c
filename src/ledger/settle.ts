/**
 * Statements for a batch of calls. SETTLE charges each call once and frees its hold. LOOKUP finds the charges of calls that
 * have been settled before. RELEASE frees the holds of such calls.
 */

import { elementsOf, plainArray, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { packedColumns, packedRows } from '../lib/packed-rows.ts'
import { PRICE_PER_CODES, type Settlement } from './types.ts'

export interface SettledCall {
  readonly chargedMicroVnd: MicroVnd
  readonly balanceAfterMicroVnd: MicroVnd
}

export interface SettledBatch {
  /** One element per settlement, in order; null for a settlement that was refused. */
  readonly calls: readonly (SettledCall | null)[]
  /** The state of each wallet after the whole batch. */
  readonly wallets: ReadonlyMap<number, WalletState>
}

export interface WalletState {
  readonly balanceMicroVnd: MicroVnd
  /** Balance less all holds; may be negative. */
  readonly availableMicroVnd: MicroVnd
}

/** What SETTLE and SETTLE_COVERED read of a settlement. */
export const SETTLEMENT_COLUMNS = packedColumns<Settlement>()({
  account_id: ['bigint', call => call.accountId],
  call_id: ['uuid', call => call.callId],
  key_id: ['bigint', call => call.keyId],
  entry_id: ['text', call => call.entryId],
  requested_name: ['text', call => call.requestedName],
  endpoint: ['smallint', call => call.endpoint],
  status: ['smallint', call => call.status],
  cost: ['bigint', call => call.costMicroVnd],
  input_tokens: ['bigint', call => call.inputTokens],
  output_tokens: ['bigint', call => call.outputTokens],
  cached_input_tokens: ['bigint', call => call.cachedInputTokens],
  reasoning_tokens: ['bigint', call => call.reasoningTokens],
  images: ['integer', call => call.images],
  price_vnd: ['bigint', call => call.priceVnd],
  price_per: ['smallint', call => PRICE_PER_CODES[call.pricePer]],
  first_byte_ms: ['integer', call => call.firstByteMs],
  latency_ms: ['integer', call => call.latencyMs],
  streamed: ['boolean', call => call.streamed],
  estimated: ['boolean', call => call.estimated],
  told_opened_at: ['timestamptz', call => call.openedAt.toISOString()],
  catalogue_id: ['integer', call => call.catalogueId ?? null],
  extras_vnd: ['bigint', call => call.extrasVnd ?? 0],
  cache_write_tokens: ['bigint', call => call.cacheWriteTokens ?? null],
  upstream_cost_micro_vnd: ['bigint', call => call.upstreamCostMicroVnd ?? null],
  attempts: ['jsonb', call => (call.attempts === undefined ? null : JSON.stringify(call.attempts))],
  error_code: ['text', call => call.errorCode ?? null],
  request_id: ['text', call => call.requestId ?? null],
  tag: ['text', call => call.tag ?? null],
})
const SETTLEMENTS = packedRows<Settlement>()(SETTLEMENT_COLUMNS)

/** Columns of a usage row whose values are taken from the settlement unchanged. */
const USAGE_COLUMNS = [
  'call_id',
  'key_id',
  'entry_id',
  'requested_name',
  'endpoint',
  'status',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'images',
  'price_vnd',
  'price_per',
  'first_byte_ms',
  'latency_ms',
  'streamed',
  'estimated',
  'catalogue_id',
  'extras_vnd',
  'cache_write_tokens',
  'upstream_cost_micro_vnd',
  'attempts',
  'error_code',
  'tag',
] as const

/**
 * Writes the rows of charged calls: reads `charges`, with the columns `account_id`, `v`, `cost`, `charged`, `balance_after`, `seq`
 * and `opened_at`.
 */
export const RECORD_CHARGES = `inserted_usage as (
  insert into usage (account_id, seq, opened_at, cost_micro_vnd, charged_micro_vnd, balance_after_micro_vnd,
                     ${USAGE_COLUMNS.join(', ')})
  select account_id, seq, opened_at, cost, charged, balance_after, ${SETTLEMENTS.columns(USAGE_COLUMNS)} from charges),
-- Stores the ids that clients chose for their requests, so that calls can be found by them.
inserted_requests as (
  insert into client_request (call_id, account_id, request_id)
  select call_id, account_id, request_id
    from (select account_id, ${SETTLEMENTS.columns(['call_id', 'request_id'])} from charges) named_calls
   where request_id is not null),
-- Adds to the daily sums for reports. A day is a Vietnamese calendar day.
updated_daily as (
  insert into usage_daily as daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
                                    cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)
  select account_id, (now() at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
         count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost), sum(charged),
         coalesce(sum(upstream_cost_micro_vnd), 0), count(upstream_cost_micro_vnd)
    from (select account_id, cost, charged, ${SETTLEMENTS.columns(['key_id', 'entry_id', 'status', 'input_tokens', 'output_tokens', 'images', 'upstream_cost_micro_vnd'])}
            from charges) charged_calls
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, day, key_id, entry_id) do update set
         calls = daily.calls + excluded.calls, errors = daily.errors + excluded.errors,
         input_tokens = daily.input_tokens + excluded.input_tokens,
         output_tokens = daily.output_tokens + excluded.output_tokens,
         images = daily.images + excluded.images, cost_micro_vnd = daily.cost_micro_vnd + excluded.cost_micro_vnd,
         charged_micro_vnd = daily.charged_micro_vnd + excluded.charged_micro_vnd,
         upstream_cost_micro_vnd = daily.upstream_cost_micro_vnd + excluded.upstream_cost_micro_vnd,
         upstream_cost_calls = daily.upstream_cost_calls + excluded.upstream_cost_calls)`

/**
 * Charges least(cost, balance): part of a cost stays uncollected only if the balance reaches exactly zero. Each usage row gets
 * the next number (`seq`) of its wallet. A call that already has a usage row fails the whole statement with 23505: an anti-join
 * here would be planned badly while a table is young. Wallets are locked in account order first. As in HOLD, a window function
 * passes the updated rows to the wallet's calls.
 *
 * A wallet's new held sum is computed from the locked row. If the UPDATE subtracted the freed holds from the wallet's column
 * instead, it would first do so with the row in the statement's snapshot. If an extension has just enlarged a freed hold, that
 * row lacks the extension, so the result could be negative and fail a CHECK.
 *
 * Account, key and price are checked against the call's hold, whichever process placed it. A settlement with a different
 * account, key or price is left out, and so is one without a wallet. A settlement at cost 0 needs no price. Times are the
 * database's: the call began when its hold was placed or, without a hold, as long ago as the call took. A charge without a hold
 * is also left out if another account has the call's usage row, or if the call is so old that its usage row may have been
 * deleted: it could then be charged twice.
 */
export const SETTLE = `
with requests as materialized (${SETTLEMENTS.select('$1', ['account_id', 'call_id', 'key_id', 'cost', 'price_vnd', 'price_per', 'latency_ms', 'told_opened_at'])}),
-- The settlements that agree with their call's hold, each with the time when the call began.
settlements as materialized (
  select n, v, requests.account_id, call_id, cost, case when held.opened_at is null then now() - requests.latency_ms * interval '1 millisecond'
           else greatest(held.opened_at, now() - interval '89 days') end as opened_at
    from requests
    left join lateral (
      select account_id, key_id, price_vnd, price_per, opened_at from hold
       where hold.call_id = requests.call_id limit 1) held on true
   where case when held.account_id is null then
                requests.cost = 0 or (requests.told_opened_at > now() - interval '90 days' and not exists (
                  select from usage where usage.call_id = requests.call_id and usage.account_id <> requests.account_id))
           else held.account_id = requests.account_id and held.key_id = requests.key_id
            and (requests.cost = 0 or held.price_vnd is null
                 or (held.price_vnd = requests.price_vnd and held.price_per = requests.price_per)) end),
locked_wallets as materialized (
  select account_id, held_micro_vnd as held from wallet where account_id in (select account_id from settlements)
   order by account_id for no key update),
-- Finds holds by lists: of a join, the planner would read all holds if autovacuum last saw the table while it was empty.
deleted_holds as (
  delete from hold
   where call_id = any(array(select call_id from settlements)) and account_id = any(array(select account_id from settlements))
     and (select count(*) from locked_wallets) > 0
  returning account_id, amount_micro_vnd),
-- What the batch takes from each wallet, and what remains held in it afterwards.
wallet_sums as materialized (
  select account_id, sum(held)::bigint as held, sum(cost)::bigint as cost, sum(calls)::bigint as calls
    from (select account_id, held, 0::bigint as cost, 0 as calls from locked_wallets
          union all
          select account_id, -amount_micro_vnd, 0, 0 from deleted_holds
          union all
          select account_id, 0, cost, 1 from settlements) parts
   group by account_id),
updated_wallets as (
  update wallet set
     balance_micro_vnd = wallet.balance_micro_vnd - least(wallet_sums.cost, wallet.balance_micro_vnd),
     held_micro_vnd    = wallet_sums.held,
     seq               = wallet.seq + wallet_sums.calls
    from wallet_sums
   where wallet.account_id = wallet_sums.account_id and (select count(*) from locked_wallets) > 0
  returning wallet.account_id, old.balance_micro_vnd as balance, old.seq as seq,
            wallet.balance_micro_vnd as balance_now, wallet.balance_micro_vnd - wallet.held_micro_vnd as available_now),
-- One row for each wallet, with its figures before the update, followed by one row for each of its calls.
wallets_and_calls as (
  select account_id, 0 as n, null::text[] as v, 0::bigint as cost, null::timestamptz as opened_at, balance, seq,
         balance_now, available_now from updated_wallets
  union all
  select account_id, n, v, cost, opened_at, null, null, null, null from settlements),
-- Adds to each row its wallet's figures and the cost of earlier calls of the wallet.
calls as (
  select account_id, n, v, cost, opened_at, row_number() over its_wallet - 1 as place,
         (sum(cost) over its_wallet - cost)::bigint as cost_before, first_value(balance) over its_wallet as balance,
         first_value(seq) over its_wallet as seq_before, first_value(balance_now) over its_wallet as balance_now,
         first_value(available_now) over its_wallet as available_now
    from wallets_and_calls
  window its_wallet as (partition by account_id order by n rows unbounded preceding)),
charges as materialized (
  select account_id, n, v, cost, opened_at, seq_before + place as seq,
         greatest(0, least(cost, balance - cost_before))::bigint as charged,
         greatest(0, balance - cost_before - cost)::bigint as balance_after, balance_now, available_now
    from calls where n > 0 and balance is not null),
${RECORD_CHARGES}
select array_agg(n)::text as n, array_agg(charged)::text as charged, array_agg(balance_after)::text as balance_after,
       array_agg(balance_now)::text as balance_now, array_agg(available_now)::text as available_now from charges`

const LOOKUP = `
select settled.call_id, settled.charged, settled.balance_after
  from unnest($1::bigint[], $2::uuid[]) as request(account_id, call_id)
 cross join lateral (
   select usage.call_id, usage.charged_micro_vnd as charged, usage.balance_after_micro_vnd as balance_after
     from usage where usage.call_id = request.call_id and usage.account_id = request.account_id limit 1) settled`

const RELEASE = `
with requests as materialized (select * from unnest($1::bigint[], $2::uuid[]) as request(account_id, call_id)),
locked_wallets as materialized (
  select account_id, held_micro_vnd as held from wallet where account_id in (select account_id from requests)
   order by account_id for no key update),
deleted_holds as (
  delete from hold using requests
   where hold.account_id = requests.account_id and hold.call_id = requests.call_id
     and hold.call_id = any(array(select call_id from requests)) and (select count(*) from locked_wallets) > 0
  returning hold.account_id, hold.amount_micro_vnd)
update wallet set held_micro_vnd = sums.held
  from (select account_id, sum(held)::bigint as held
          from (select account_id, held from locked_wallets union all
                select account_id, -amount_micro_vnd from deleted_holds) parts
         group by 1) sums
 where wallet.account_id = sums.account_id`

/**
 * The batch's answers in a single row, one array per column, because the driver reads a few long values faster than many rows.
 */
interface SettleRow {
  readonly n: string | null
  readonly charged: string | null
  readonly balance_after: string | null
  readonly balance_now: string | null
  readonly available_now: string | null
}

interface LookupRow {
  readonly call_id: string
  readonly charged: string
  readonly balance_after: string
}

/**
 * Settles a batch in which no call occurs twice. Rejects with the driver's error; its code is 23505 if a call was settled before.
 */
export async function settleCalls(pool: StatementPool, batch: readonly Settlement[]): Promise<SettledBatch> {
  const [row] = await pool.query<SettleRow>(SETTLE, [SETTLEMENTS.pack(batch)])
  const wallets = new Map<number, WalletState>()
  const calls: (SettledCall | null)[] = batch.map(() => null)
  const charged = elementsOf(row?.charged)
  const balanceAfter = elementsOf(row?.balance_after)
  const balanceNow = elementsOf(row?.balance_now)
  const availableNow = elementsOf(row?.available_now)
  const numbers = elementsOf(row?.n)
  for (let index = 0; index < numbers.length; index++) {
    const place = Number(numbers[index]) - 1
    const { accountId } = batch[place]!
    calls[place] = {
      chargedMicroVnd: money(charged[index]!),
      balanceAfterMicroVnd: money(balanceAfter[index]!),
    }
    if (wallets.has(accountId)) continue
    const state = { balanceMicroVnd: money(balanceNow[index]!), availableMicroVnd: money(availableNow[index]!) }
    wallets.set(accountId, state)
  }
  return { calls, wallets }
}

/** Returns what was charged for the calls that have been settled before, by call id. */
export async function lookUpCalls(
  pool: StatementPool,
  calls: readonly Pick<Settlement, 'accountId' | 'callId'>[],
): Promise<ReadonlyMap<string, SettledCall>> {
  const rows = await pool.query<LookupRow>(LOOKUP, callArrays(calls))
  return new Map(
    rows.map(row => [
      row.call_id,
      { chargedMicroVnd: money(row.charged), balanceAfterMicroVnd: money(row.balance_after) },
    ]),
  )
}

/** Frees the holds of calls that have been settled before, without writing a second usage row. */
export async function releaseHolds(
  pool: StatementPool,
  calls: readonly Pick<Settlement, 'accountId' | 'callId'>[],
): Promise<void> {
  await pool.query(RELEASE, callArrays(calls))
}

function callArrays(calls: readonly Pick<Settlement, 'accountId' | 'callId'>[]): string[] {
  return [plainArray(calls.map(call => call.accountId)), plainArray(calls.map(call => call.callId))]
}

function money(text: string): MicroVnd {
  return microVnd(BigInt(text))
}
