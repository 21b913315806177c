/** HOLD: sets money aside for n calls of any wallets in one statement, and verifies their keys. */

import { plainArray, type StatementPool, textArray } from '../lib/database.ts'
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
    }

/**
 * Admits in order while the wants fit into balance less holds. When the first does not fit and nothing is held, its
 * hold is cut to what is left. A call that has its hold already gets the same answer again.
 * The wallet's new figure is computed from its own columns: a CHECK must never see a figure computed from a stale row.
 */
const HOLD = `
with r as materialized (
  select * from unnest($1::text[], $2::text[]::uuid[], $3::text[]::bigint[], $4::text[], $5::text[], $6::text[]::smallint[])
    with ordinality as r(hash_hex, call_id, want, entry_id, requested_name, endpoint, n)),
k as materialized (
  select r.*, a.account_id, a.key_id, (a.key_id is not null and a.revoked_at is null) as active, h.amount_micro_vnd as had
    from r
    left join api_key a on a.key_hash = decode(r.hash_hex, 'hex')
    left join hold h on h.account_id = a.account_id and h.call_id = r.call_id),
w as materialized (
  select account_id from wallet where account_id in (select account_id from k where active)
   order by account_id for no key update),
t as materialized (
  select k.account_id, k.n, k.want, sum(k.want) over (partition by k.account_id order by k.n)::bigint as upto
    from k join w using (account_id) where k.active and k.had is null),
upd as (
  update wallet set held_micro_vnd = wallet.held_micro_vnd + coalesce(
      (select max(t.upto) from t
        where t.account_id = wallet.account_id and t.upto <= wallet.balance_micro_vnd - wallet.held_micro_vnd),
      case when wallet.held_micro_vnd = 0 then wallet.balance_micro_vnd else 0 end)
   where wallet.account_id in (select account_id from t)
  returning wallet.account_id, old.balance_micro_vnd as balance,
            old.balance_micro_vnd - old.held_micro_vnd as available, old.held_micro_vnd as held),
g as materialized (
  select t.account_id, t.n, upd.balance,
         case when t.upto <= upd.available then t.want
              when t.upto = t.want and upd.held = 0 then upd.available
              else 0 end as granted
    from t join upd using (account_id)),
ins as (
  insert into hold (account_id, call_id, key_id, entry_id, requested_name, endpoint, amount_micro_vnd, instance_id)
  select k.account_id, k.call_id, k.key_id, k.entry_id, k.requested_name, k.endpoint, g.granted, $7::text::bigint
    from g join k using (n) where g.granted > 0)
select k.active, k.account_id, k.key_id, g.balance, coalesce(k.had, nullif(g.granted, 0)) as held
  from k left join g using (n) order by k.n`

interface Row {
  readonly active: boolean
  readonly account_id: string | null
  readonly key_id: string | null
  readonly balance: string | null
  readonly held: string | null
}

/** One answer for each row, in order. Rejects with the driver's error. */
export async function placeHolds(
  pool: StatementPool,
  rows: readonly HoldRow[],
  instanceId: string,
): Promise<readonly HoldResult[]> {
  const answers = await pool.query<Row>(HOLD, [
    plainArray(rows.map(row => row.keyHashHex)),
    plainArray(rows.map(row => row.callId)),
    plainArray(rows.map(row => row.wantMicroVnd)),
    textArray(rows.map(row => row.entryId)),
    textArray(rows.map(row => row.requestedName)),
    plainArray(rows.map(row => row.endpoint)),
    instanceId,
  ])
  return answers.map(answer => {
    if (!answer.active) return { active: false }
    return {
      active: true,
      accountId: Number(answer.account_id),
      keyId: Number(answer.key_id),
      heldMicroVnd: money(answer.held),
      balanceMicroVnd: money(answer.balance),
    }
  })
}

function money(text: string | null): MicroVnd | null {
  return text === null ? null : microVnd(BigInt(text))
}
