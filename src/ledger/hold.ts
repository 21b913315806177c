/** HOLD: sets money aside for n calls of any wallets in one statement, and verifies their keys. */

import { elementsOf, plainArray, type StatementPool, textArray } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import type { EndpointCode } from './types.ts'

export interface HoldRow {
  readonly keyHashHex: string
  readonly callId: string
  readonly wantMicroVnd: MicroVnd
  readonly entryId: string
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
}

export type HoldResult =
  | { readonly active: false }
  | {
      readonly active: true
      readonly accountId: number
      readonly keyId: number
      /** Set aside for this call; null when nothing was. */
      readonly heldMicroVnd: MicroVnd | null
      /** Of the wallet when the statement ran; null when this call had its hold already. */
      readonly balanceMicroVnd: MicroVnd | null
      /** The key has spent its monthly cap, so nothing was set aside. */
      readonly capped: boolean
    }

/**
 * Admits in order while the wants fit into balance less holds. When the first does not fit and nothing is held, its
 * hold is cut to what is left. A call that has its hold already gets the same answer again.
 *
 * A key with a monthly cap is refused from the moment its settled calls of the month (of Vietnam) reach it: the cap is
 * passed by no more than the calls in flight then. `case` keeps the sum from being computed for keys without one.
 *
 * Wallets are locked in account order before anything changes (`count(*) from w`). The wallet's new figure is computed
 * from its own columns: a CHECK must never see a figure computed from a stale row. What the update returns is put
 * before the wallet's requests and handed down by a window: a join of two intermediate results would be quadratic in a
 * plan that is made once for every size of batch.
 */
const HOLD = `
with r as materialized (
  select * from unnest($1::text[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[])
    with ordinality as r(hash_hex, call_id, want, entry_id, requested_name, endpoint, n)),
k as materialized (
  select r.*, a.account_id, a.key_id, h.amount_micro_vnd as had,
         (a.key_id is not null and a.revoked_at is null and a.suspended_at is null) as active,
         case when a.monthly_cap_micro_vnd is null or h.amount_micro_vnd is not null then false else
           a.monthly_cap_micro_vnd <= (
             select coalesce(sum(d.charged_micro_vnd), 0) from usage_daily d
              where d.account_id = a.account_id and d.key_id = a.key_id
                and d.day >= date_trunc('month', now() at time zone 'Asia/Ho_Chi_Minh')::date) end as capped
    from r
    left join api_key a on a.key_hash = decode(r.hash_hex, 'hex')
    left join lateral (
      select amount_micro_vnd from hold where hold.account_id = a.account_id and hold.call_id = r.call_id limit 1) h on true),
w as materialized (
  select account_id from wallet where account_id in (select account_id from k where active and not capped)
   order by account_id for no key update),
s as materialized (
  select account_id, array_agg(upto) as sums
    from (select account_id, sum(want) over (partition by account_id order by n)::bigint as upto
            from k where active and had is null and not capped) t
   group by account_id),
upd as (
  update wallet set held_micro_vnd = wallet.held_micro_vnd + coalesce(
      (select max(upto) from unnest(s.sums) as upto where upto <= wallet.balance_micro_vnd - wallet.held_micro_vnd),
      case when wallet.held_micro_vnd = 0 then wallet.balance_micro_vnd else 0 end)
    from s where wallet.account_id = s.account_id and (select count(*) from w) > 0
  returning wallet.account_id, old.balance_micro_vnd as balance,
            old.balance_micro_vnd - old.held_micro_vnd as available, old.held_micro_vnd as held),
z as (
  select account_id, 0 as n, null::uuid as call_id, null::bigint as key_id, null as entry_id, null as requested_name,
         null::smallint as endpoint, 0::bigint as want, balance, available, held from upd
  union all
  select account_id, n, call_id, key_id, entry_id, requested_name, endpoint, want, null, null, null
    from k where active and had is null and not capped),
f as (
  select z.account_id, n, call_id, key_id, entry_id, requested_name, endpoint, want, (sum(want) over p)::bigint as upto,
         first_value(balance) over p as balance, first_value(available) over p as available, first_value(held) over p as held
    from z window p as (partition by z.account_id order by n rows unbounded preceding)),
g as materialized (
  select *, case when upto <= available then want when upto = want and held = 0 then available else 0 end as granted
    from f where n > 0 and balance is not null),
ins as (
  insert into hold (account_id, call_id, key_id, entry_id, requested_name, endpoint, amount_micro_vnd, instance_id)
  select account_id, call_id, key_id, entry_id, requested_name, endpoint, granted, $7::text::bigint from g where granted > 0)
select array_agg(n)::text as n, array_agg(active)::text as active, array_agg(capped)::text as capped,
       array_agg(account_id)::text as account_id, array_agg(key_id)::text as key_id, array_agg(balance)::text as balance,
       array_agg(held)::text as held
  from (
    select n, true as active, false as capped, account_id, key_id, balance, nullif(granted, 0) as held from g
    union all
    select n, active, capped, account_id, key_id, null, had from k where not active or had is not null or capped) y`

/** One row for the whole batch, an array for each column. */
type Row = Readonly<Record<'n' | 'active' | 'capped' | 'account_id' | 'key_id' | 'balance' | 'held', string | null>>

/** One answer for each row, in order. Rejects with the driver's error. */
export async function placeHolds(
  pool: StatementPool,
  rows: readonly HoldRow[],
  instanceId: string,
): Promise<readonly HoldResult[]> {
  const [row] = await pool.query<Row>(HOLD, [
    plainArray(rows.map(row => row.keyHashHex)),
    plainArray(rows.map(row => row.callId)),
    plainArray(rows.map(row => row.wantMicroVnd)),
    textArray(rows.map(row => row.entryId)),
    textArray(rows.map(row => row.requestedName)),
    plainArray(rows.map(row => row.endpoint)),
    instanceId,
  ])
  const results: HoldResult[] = rows.map(() => ({ active: false }))
  const numbers = elementsOf(row?.n)
  const active = elementsOf(row?.active)
  const capped = elementsOf(row?.capped)
  const accountIds = elementsOf(row?.account_id)
  const keyIds = elementsOf(row?.key_id)
  const balances = elementsOf(row?.balance)
  const held = elementsOf(row?.held)
  for (let index = 0; index < numbers.length; index++) {
    if (active[index] !== TRUE) continue
    results[Number(numbers[index]) - 1] = {
      active: true,
      accountId: Number(accountIds[index]),
      keyId: Number(keyIds[index]),
      heldMicroVnd: money(held[index]!),
      balanceMicroVnd: money(balances[index]!),
      capped: capped[index] === TRUE,
    }
  }
  return results
}

/** As Postgres writes it in an array. */
const TRUE = 't'

function money(element: string): MicroVnd | null {
  return element === 'NULL' ? null : microVnd(BigInt(element))
}
