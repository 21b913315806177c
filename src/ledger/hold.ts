/** HOLD: sets money aside for n calls of any wallets in one statement, and verifies their keys. */

import type { EndpointCode } from '../catalogue/endpoints.ts'
import { elementsOf, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { packedRows } from '../lib/packed-rows.ts'
import { PRICE_PER_CODES, type PricePer } from './types.ts'

export interface HoldRow {
  readonly keyHashHex: string
  readonly callId: string
  /** The smallest hold that admits the call, unless nothing else is held. */
  readonly wantMicroVnd: MicroVnd
  /** The largest hold for it, up to a sixteenth of the balance. */
  readonly wantMaxMicroVnd: MicroVnd
  readonly entryId: string
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  readonly priceVnd: number
  readonly pricePer: PricePer
}

export type HoldResult =
  | { readonly active: false }
  | {
      readonly active: true
      readonly accountId: number
      readonly keyId: number
      /** Set aside for this call; null when nothing was. */
      readonly heldMicroVnd: MicroVnd | null
      /** The wallet's when the statement ran; null when this call already had its hold. */
      readonly balanceMicroVnd: MicroVnd | null
      /** Balance less the holds of all earlier calls, at least 0; null as above. */
      readonly freeMicroVnd: MicroVnd | null
      /** The key has spent its monthly cap, so nothing was set aside. */
      readonly capped: boolean
    }

const REQUESTS = packedRows<HoldRow>()({
  key_hash: ['text', row => row.keyHashHex],
  call_id: ['uuid', row => row.callId],
  want: ['bigint', row => row.wantMicroVnd],
  want_max: ['bigint', row => row.wantMaxMicroVnd],
  entry_id: ['text', row => row.entryId],
  requested_name: ['text', row => row.requestedName],
  endpoint: ['smallint', row => row.endpoint],
  price_vnd: ['bigint', row => row.priceVnd],
  price_per: ['smallint', row => PRICE_PER_CODES[row.pricePer]],
})

/**
 * Admits calls in order. A call's target is its maximum, but at most a sixteenth of the balance, so that sixteen such
 * calls can run side by side, and at least its minimum. It gets the target while free money (balance less holds) lasts.
 * If the target does not fit, it gets the rest, provided that this covers its minimum; the first call of a wallet
 * without holds gets the rest in any case. Calls behind it get nothing. A call that already has a hold gets the same
 * answer again.
 *
 * A key with a monthly cap is refused as soon as its settled calls of the month (in Vietnam) reach it, so only calls
 * then in flight can exceed the cap. `case` avoids computing the sum for keys without one.
 *
 * Wallets are locked in account order before anything changes (`count(*) from locked_wallets`). A wallet's new figure
 * is computed from its own columns, because a CHECK must never see a figure based on a stale row. The update's rows are
 * put in front of the wallet's requests and passed down by a window function: joining two intermediate results would be
 * quadratic in a plan that serves every batch size.
 */
export const HOLD = `
with requests as materialized (${REQUESTS.select('$1', ['key_hash', 'call_id', 'want', 'want_max'])}),
-- Whose they are, and what they hold already.
known as materialized (
  select n, v, requests.call_id, want, want_max, api_key.account_id, api_key.key_id, held.amount_micro_vnd as had,
         (api_key.key_id is not null and api_key.revoked_at is null and api_key.suspended_at is null) as active,
         case when api_key.monthly_cap_micro_vnd is null or held.amount_micro_vnd is not null then false else
           api_key.monthly_cap_micro_vnd <= (
             select coalesce(sum(daily.charged_micro_vnd), 0) from usage_daily daily
              where daily.account_id = api_key.account_id and daily.key_id = api_key.key_id
                and daily.day >= date_trunc('month', now() at time zone 'Asia/Ho_Chi_Minh')::date) end as capped
    from requests
    left join api_key on api_key.key_hash = decode(requests.key_hash, 'hex')
    left join lateral (
      select amount_micro_vnd from hold
       where hold.account_id = api_key.account_id and hold.call_id = requests.call_id limit 1) held on true),
locked_wallets as materialized (
  select account_id from wallet where account_id in (select account_id from known where active and not capped)
   order by account_id for no key update),
-- What the calls of each wallet want, in order.
wants as materialized (
  select account_id, array_agg(want order by n) as wants, array_agg(want_max order by n) as wants_max
    from known where active and had is null and not capped
   group by account_id),
-- As much as the grants below add up to.
updated_wallets as (
  update wallet set held_micro_vnd = wallet.held_micro_vnd + (
      select coalesce(max(case
          when upto <= wallet.balance_micro_vnd - wallet.held_micro_vnd then upto
          when upto - target + want <= wallet.balance_micro_vnd - wallet.held_micro_vnd
            or (place = 1 and wallet.held_micro_vnd = 0) then wallet.balance_micro_vnd - wallet.held_micro_vnd
          else 0 end), 0)
        from (
          select place, want, target, sum(target) over (order by place rows unbounded preceding)::bigint as upto
            from unnest(wants.wants, wants.wants_max) with ordinality as asked(want, want_max, place),
                 lateral (select greatest(want, least(want_max, wallet.balance_micro_vnd / 16)) as target) aimed) summed)
    from wants where wallet.account_id = wants.account_id and (select count(*) from locked_wallets) > 0
  returning wallet.account_id, old.balance_micro_vnd as balance,
            old.balance_micro_vnd - old.held_micro_vnd as free, old.held_micro_vnd as held),
-- Each wallet as it was, and behind it its calls.
wallets_and_calls as (
  select account_id, 0 as n, null::text[] as v, null::uuid as call_id, null::bigint as key_id, 0::bigint as want,
         0::bigint as want_max, balance, free, held from updated_wallets
  union all
  select account_id, n, v, call_id, key_id, want, want_max, null, null, null
    from known where active and had is null and not capped),
-- Each call beside its wallet.
calls as (
  select account_id, n, v, call_id, key_id, want, want_max,
         first_value(balance) over its_wallet as balance, first_value(free) over its_wallet as free,
         first_value(held) over its_wallet as held
    from wallets_and_calls
  window its_wallet as (partition by account_id order by n rows unbounded preceding)),
summed as (
  select *, sum(target) over (partition by account_id order by n rows unbounded preceding)::bigint as upto
    from (select *, greatest(want, least(want_max, balance / 16)) as target from calls where n > 0 and balance is not null) aimed),
grants as materialized (
  select *, greatest(0, free - (upto - target)) as left_over, case
           when upto <= free then target
           when upto - target + want <= free or (upto = target and held = 0) then free - (upto - target)
           else 0 end as granted
    from summed),
inserted_holds as (
  insert into hold (account_id, call_id, key_id, amount_micro_vnd, instance_id, entry_id, requested_name, endpoint, price_vnd,
                    price_per)
  select account_id, call_id, key_id, granted, $2::text::bigint, ${REQUESTS.columns([
    'entry_id',
    'requested_name',
    'endpoint',
    'price_vnd',
    'price_per',
  ])}
    from grants where granted > 0)
select array_agg(n)::text as n, array_agg(active)::text as active, array_agg(capped)::text as capped,
       array_agg(account_id)::text as account_id, array_agg(key_id)::text as key_id, array_agg(balance)::text as balance,
       array_agg(held)::text as held, array_agg(free)::text as free
  from (
    select n, true as active, false as capped, account_id, key_id, balance, nullif(granted, 0) as held, left_over as free
      from grants
    union all
    select n, active, capped, account_id, key_id, null, had, null from known where not active or had is not null or capped) answers`

/** One row for the whole batch, with an array per column. */
type Row = Readonly<Record<Column, string | null>>
type Column = 'n' | 'active' | 'capped' | 'account_id' | 'key_id' | 'balance' | 'held' | 'free'

/** One answer per row, in order. Rejects with the driver's error. */
export async function placeHolds(
  pool: StatementPool,
  rows: readonly HoldRow[],
  instanceId: string,
): Promise<readonly HoldResult[]> {
  const [row] = await pool.query<Row>(HOLD, [REQUESTS.pack(rows), instanceId])
  const results: HoldResult[] = rows.map(() => ({ active: false }))
  const numbers = elementsOf(row?.n)
  const active = elementsOf(row?.active)
  const capped = elementsOf(row?.capped)
  const accountIds = elementsOf(row?.account_id)
  const keyIds = elementsOf(row?.key_id)
  const balances = elementsOf(row?.balance)
  const held = elementsOf(row?.held)
  const free = elementsOf(row?.free)
  for (let index = 0; index < numbers.length; index++) {
    if (active[index] !== TRUE) continue
    results[Number(numbers[index]) - 1] = {
      active: true,
      accountId: Number(accountIds[index]),
      keyId: Number(keyIds[index]),
      heldMicroVnd: money(held[index]!),
      balanceMicroVnd: money(balances[index]!),
      freeMicroVnd: money(free[index]!),
      capped: capped[index] === TRUE,
    }
  }
  return results
}

/** In Postgres' array syntax. */
const TRUE = 't'

function money(element: string): MicroVnd | null {
  return element === 'NULL' ? null : microVnd(BigInt(element))
}
