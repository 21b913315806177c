/** Grows the holds of a batch of running calls in one statement. The calls may belong to different wallets. */

import { elementsOf, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { packedRows } from '../lib/packed-rows.ts'
import type { ExtendRequest } from './types.ts'

export interface ExtendResult {
  /** Amount now held for this call. Null if it has no hold: the call was settled, or the hold was lost in a Postgres crash. */
  readonly heldMicroVnd: MicroVnd | null
  /** The wallet's balance less all holds after the statement; may be negative. Null if there is no wallet. */
  readonly freeMicroVnd: MicroVnd | null
}

const REQUESTS = packedRows<ExtendRequest>()({
  account_id: ['bigint', request => request.accountId],
  call_id: ['uuid', request => request.callId],
  want: ['bigint', request => request.wantMicroVnd],
})

/**
 * Grows each hold to the requested total, in order, while free money lasts; the call that takes the last of it gets less than
 * it requested. Requests name totals, not increments, so that a statement can be repeated when its answer was lost.
 *
 * Locks in the same order as HOLD and SETTLE: wallets in account order, then their holds. Locking returns each row's newest
 * version, so grants are computed from current amounts. The updates of holds and wallets add the grants to those amounts, so
 * they overwrite no concurrent change. As in HOLD and SETTLE, a window function passes the wallets' figures to the calls.
 */
export const EXTEND = `
with requests as materialized (${REQUESTS.select('$1', ['account_id', 'call_id', 'want'])}),
locked_wallets as materialized (
  select account_id, balance_micro_vnd - held_micro_vnd as free
    from wallet where account_id in (select account_id from requests)
   order by account_id for no key update),
-- Leaves out calls whose holds no longer exist. The list of calls bounds what is read, as in SETTLE.
locked_holds as materialized (
  select requests.n, hold.account_id, hold.call_id, greatest(0, requests.want - hold.amount_micro_vnd) as more,
         hold.amount_micro_vnd as amount
    from requests join hold on hold.account_id = requests.account_id and hold.call_id = requests.call_id
   where hold.call_id = any(array(select call_id from requests)) and (select count(*) from locked_wallets) > 0
   order by requests.n for no key update of hold),
-- One row for each wallet, followed by one row for each of its calls.
wallets_and_calls as (
  select account_id, 0 as n, null::uuid as call_id, 0::bigint as more, null::bigint as amount, free from locked_wallets
  union all
  select account_id, n, call_id, more, amount, null from locked_holds),
-- Adds to each row the free money of its wallet and what earlier calls of the wallet request.
calls as (
  select account_id, n, call_id, more, amount, first_value(free) over its_wallet as free,
         (sum(more) over its_wallet - more)::bigint as before
    from wallets_and_calls
  window its_wallet as (partition by account_id order by n rows unbounded preceding)),
grants as materialized (
  select *, greatest(0, least(more, free - before)) as granted from calls),
extended_holds as (
  update hold set amount_micro_vnd = hold.amount_micro_vnd + grants.granted
    from grants
   where grants.granted > 0 and hold.account_id = grants.account_id and hold.call_id = grants.call_id
     and hold.call_id = any(array(select call_id from requests))),
updated_wallets as (
  update wallet set held_micro_vnd = wallet.held_micro_vnd + granted.sum
    from (select account_id, sum(granted)::bigint as sum from grants where granted > 0 group by account_id) granted
   where wallet.account_id = granted.account_id)
select array_agg(n)::text as n, array_agg(account_id)::text as account_id, array_agg(amount + granted)::text as amount,
       array_agg(left_over)::text as free
  from (select *, free - sum(granted) over (partition by account_id) as left_over from grants) answers`

/** The batch's answers in a single row: one array per column. */
type Row = Readonly<Record<'n' | 'account_id' | 'amount' | 'free', string | null>>

/** Returns one answer per request, in order. Rejects with the driver's error. A call must not occur twice. */
export async function extendHolds(
  pool: StatementPool,
  requests: readonly ExtendRequest[],
): Promise<readonly ExtendResult[]> {
  const [row] = await pool.query<Row>(EXTEND, [REQUESTS.pack(requests)])
  const numbers = elementsOf(row?.n)
  const accountIds = elementsOf(row?.account_id)
  const amounts = elementsOf(row?.amount)
  const free = elementsOf(row?.free)
  const freeOf = new Map<number, MicroVnd>()
  const held: (MicroVnd | null)[] = requests.map(() => null)
  for (let index = 0; index < numbers.length; index++) {
    freeOf.set(Number(accountIds[index]), microVnd(BigInt(free[index]!)))
    const place = Number(numbers[index])
    // Requests are numbered from 1. The row of a wallet itself has 0, and no hold.
    if (place > 0) held[place - 1] = microVnd(BigInt(amounts[index]!))
  }
  return requests.map(({ accountId }, index) => ({
    heldMicroVnd: held[index] ?? null,
    freeMicroVnd: freeOf.get(accountId) ?? null,
  }))
}
