/** SETTLE, LOOKUP and RELEASE: turns n holds into charges once, finds what was recorded, frees holds without a row. */

import { plainArray, type StatementPool, textArray } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import type { Settlement } from './types.ts'

/** In the table `usage`; never reused. */
export const PRICE_PER_CODES = { mtok: 1, request: 2, image: 3 } as const

export interface SettledCall {
  readonly chargedMicroVnd: MicroVnd
  /** Of the wallet after this call. */
  readonly balanceAfterMicroVnd: MicroVnd
}

export interface SettledBatch {
  /** In the order of the settlements; null where the account has no wallet. */
  readonly calls: readonly (SettledCall | null)[]
  /** Of each wallet after the whole batch. */
  readonly wallets: ReadonlyMap<number, WalletState>
}

export interface WalletState {
  readonly balanceMicroVnd: MicroVnd
  /** Balance less open holds; may be negative. */
  readonly availableMicroVnd: MicroVnd
}

/**
 * Charge = least(cost, balance): money is left uncollected only when the balance is exactly zero. Each row gets the
 * next seq of its wallet. A call that has its row already makes the whole statement fail with 23505: an anti-join
 * here would be planned badly while a table is young.
 */
const SETTLE = `
with r as materialized (
  select * from unnest(
      $1::text[]::bigint[], $2::text[]::uuid[], $3::text[]::bigint[], $4::text[], $5::text[], $6::text[]::smallint[],
      $7::text[]::smallint[], $8::text[]::bigint[], $9::text[]::bigint[], $10::text[]::bigint[], $11::text[]::bigint[],
      $12::text[]::bigint[], $13::text[]::integer[], $14::text[]::bigint[], $15::text[]::smallint[],
      $16::text[]::integer[], $17::text[]::integer[], $18::text[]::boolean[], $19::text[]::boolean[], $20::text[]::timestamptz[])
    with ordinality as r(account_id, call_id, key_id, entry_id, requested_name, endpoint,
      status, cost, input_tokens, output_tokens, cached_input_tokens,
      reasoning_tokens, images, price_vnd, price_per,
      first_byte_ms, latency_ms, streamed, estimated, opened_at, n)),
w as materialized (
  select account_id from wallet where account_id in (select account_id from r)
   order by account_id for no key update),
d as (
  delete from hold h using r, w
   where h.account_id = r.account_id and h.call_id = r.call_id and w.account_id = h.account_id
  returning h.account_id, h.amount_micro_vnd),
rel as materialized (select account_id, sum(amount_micro_vnd)::bigint as released from d group by 1),
q as materialized (
  select r.*, row_number() over p as k, (sum(r.cost) over p - r.cost)::bigint as before
    from r join w using (account_id)
  window p as (partition by r.account_id order by r.n rows unbounded preceding)),
t as materialized (
  select s.account_id, coalesce(rel.released, 0) as released, s.cost, s.k
    from (select account_id, sum(cost)::bigint as cost, count(*) as k from q group by 1) s
    left join rel using (account_id)),
upd as (
  update wallet set
     balance_micro_vnd = wallet.balance_micro_vnd - least(t.cost, wallet.balance_micro_vnd),
     held_micro_vnd    = wallet.held_micro_vnd - t.released,
     seq               = wallet.seq + t.k
    from t where wallet.account_id = t.account_id
  returning wallet.account_id, old.balance_micro_vnd as balance, old.seq as seq,
            wallet.balance_micro_vnd as balance_now, wallet.balance_micro_vnd - wallet.held_micro_vnd as available_now),
c as materialized (
  select q.*, upd.seq + q.k as seq, upd.balance_now, upd.available_now,
         greatest(0, least(q.cost, upd.balance - q.before))::bigint as charged,
         greatest(0, upd.balance - q.before - q.cost)::bigint as balance_after
    from q join upd using (account_id)),
u as (
  insert into usage (account_id, seq, call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens,
                     cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
                     balance_after_micro_vnd, first_byte_ms, latency_ms, streamed, estimated, opened_at)
  select account_id, seq, call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens,
         cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost, charged,
         balance_after, first_byte_ms, latency_ms, streamed, estimated, opened_at from c),
x as (
  insert into usage_daily as t (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
                                cost_micro_vnd, charged_micro_vnd)
  select account_id, (now() at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
         count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost), sum(charged)
    from c group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, day, key_id, entry_id) do update set
         calls = t.calls + excluded.calls, errors = t.errors + excluded.errors,
         input_tokens = t.input_tokens + excluded.input_tokens, output_tokens = t.output_tokens + excluded.output_tokens,
         images = t.images + excluded.images, cost_micro_vnd = t.cost_micro_vnd + excluded.cost_micro_vnd,
         charged_micro_vnd = t.charged_micro_vnd + excluded.charged_micro_vnd)
select c.charged, c.balance_after, c.balance_now, c.available_now
  from r left join c using (n) order by r.n`

const LOOKUP = `
select u.call_id, u.charged, u.balance_after
  from unnest($1::text[]::bigint[], $2::text[]::uuid[]) as r(account_id, call_id)
 cross join lateral (
   select x.call_id, x.charged_micro_vnd as charged, x.balance_after_micro_vnd as balance_after
     from usage x where x.call_id = r.call_id and x.account_id = r.account_id limit 1) u`

const RELEASE = `
with r as materialized (select * from unnest($1::text[]::bigint[], $2::text[]::uuid[]) as r(account_id, call_id)),
w as materialized (
  select account_id from wallet where account_id in (select account_id from r) order by account_id for no key update),
d as (
  delete from hold h using r, w
   where h.account_id = r.account_id and h.call_id = r.call_id and w.account_id = h.account_id
  returning h.account_id, h.amount_micro_vnd)
update wallet set held_micro_vnd = wallet.held_micro_vnd - s.released
  from (select account_id, sum(amount_micro_vnd)::bigint as released from d group by 1) s
 where wallet.account_id = s.account_id`

interface SettleRow {
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

/** Rejects with the driver's error; 23505 when one of the calls has been settled before. No call may be in it twice. */
export async function settleCalls(pool: StatementPool, batch: readonly Settlement[]): Promise<SettledBatch> {
  const rows = await pool.query<SettleRow>(SETTLE, [
    plainArray(batch.map(call => call.accountId)),
    plainArray(batch.map(call => call.callId)),
    plainArray(batch.map(call => call.keyId)),
    textArray(batch.map(call => call.entryId)),
    textArray(batch.map(call => call.requestedName)),
    plainArray(batch.map(call => call.endpoint)),
    plainArray(batch.map(call => call.status)),
    plainArray(batch.map(call => call.costMicroVnd)),
    plainArray(batch.map(call => call.inputTokens)),
    plainArray(batch.map(call => call.outputTokens)),
    plainArray(batch.map(call => call.cachedInputTokens)),
    plainArray(batch.map(call => call.reasoningTokens)),
    plainArray(batch.map(call => call.images)),
    plainArray(batch.map(call => call.priceVnd)),
    plainArray(batch.map(call => PRICE_PER_CODES[call.pricePer])),
    plainArray(batch.map(call => call.firstByteMs)),
    plainArray(batch.map(call => call.latencyMs)),
    plainArray(batch.map(call => call.streamed)),
    plainArray(batch.map(call => call.estimated)),
    plainArray(batch.map(call => call.openedAt.toISOString())),
  ])
  const wallets = new Map<number, WalletState>()
  const calls = rows.map((row, index) => {
    const { charged, balance_after, balance_now, available_now } = row
    if (charged === null || balance_after === null || balance_now === null || available_now === null) return null
    const { accountId } = batch[index]!
    if (!wallets.has(accountId)) {
      wallets.set(accountId, { balanceMicroVnd: money(balance_now), availableMicroVnd: money(available_now) })
    }
    return { chargedMicroVnd: money(charged), balanceAfterMicroVnd: money(balance_after) }
  })
  return { calls, wallets }
}

/** What was recorded for those calls that have been settled, by call id. */
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

/** Frees holds of calls whose usage row exists already, so that no second row is written. */
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
