/**
 * The statement that places holds: verifies the keys of a batch of calls, which may belong to different wallets, and holds
 * money for each call.
 */

import type { EndpointCode } from '../catalogue/endpoints.ts'
import { elementsOf, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { packedRows } from '../lib/packed-rows.ts'
import type { Period } from '../lib/period.ts'
import {
  type KeyAccess,
  type KeyLimit,
  PRICE_PER_CODES,
  type PricePer,
  REFUSED_KEY_STATES,
  type RefusedKeyState,
} from './types.ts'

export interface HoldRow {
  readonly keyHashHex: string
  /** What HOLD_COVERED needs; null if each call must be checked against the key. */
  readonly access: KeyAccess | null
  readonly callId: string
  /** The minimum hold for the call to be admitted; waived if the wallet has no other holds. */
  readonly holdMinMicroVnd: MicroVnd
  /** The maximum hold; also capped at a sixteenth of the balance, but never below the minimum. */
  readonly holdMaxMicroVnd: MicroVnd
  readonly entryId: string
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  readonly priceVnd: number
  readonly pricePer: PricePer
  readonly family: string
  readonly formerName: string | null
}

export type HoldResult =
  | { readonly active: false; readonly state: RefusedKeyState }
  | {
      readonly active: true
      readonly accountId: number
      readonly keyId: number
      /** The amount held for this call; null if nothing was. */
      readonly heldMicroVnd: MicroVnd | null
      /** The wallet's balance when the statement ran; null if this call already had its hold. */
      readonly balanceMicroVnd: MicroVnd | null
      /**
       * The free money before this hold: the balance, or what the key's limit leaves if that is less, minus the holds of all
       * earlier calls; at least 0. Null if this call already had its hold.
       */
      readonly freeMicroVnd: MicroVnd | null
      /**
       * Why nothing was held: the key's limit is used up (KeyLimit), the key may not call the model (`model`), or the key has a
       * limit and the call must be retried with HOLD_WITHIN_LIMITS (`limited`). Null if money was held, or if the wallet had
       * too little.
       */
      readonly refusal: KeyLimit | 'model' | 'limited' | null
    }

const REQUESTS = packedRows<HoldRow>()({
  key_hash: ['text', row => row.keyHashHex],
  call_id: ['uuid', row => row.callId],
  want: ['bigint', row => row.holdMinMicroVnd],
  want_max: ['bigint', row => row.holdMaxMicroVnd],
  entry_id: ['text', row => row.entryId],
  requested_name: ['text', row => row.requestedName],
  endpoint: ['smallint', row => row.endpoint],
  price_vnd: ['bigint', row => row.priceVnd],
  price_per: ['smallint', row => PRICE_PER_CODES[row.pricePer]],
  family: ['text', row => row.family],
  former_name: ['text', row => row.formerName],
})

const KNOWN = `
with requests as materialized (${REQUESTS.select('$1', ['key_hash', 'call_id', 'want', 'want_max'])}),
-- Each request with its account, its key, and the hold that it may already have.
known as materialized (
  select n, v, requests.call_id, want, want_max, opened.account_id, opened.key_id, held.amount_micro_vnd as had,
         case when opened.key_id is null then 'unknown'
              when key_state(opened.revoked_at, opened.suspended_at, opened.disabled_at, opened.expires_at) <> 'active'
                then key_state(opened.revoked_at, opened.suspended_at, opened.disabled_at, opened.expires_at)
              when opened.allowed_models is null or held.amount_micro_vnd is not null then null
              when not (select array[entry_id, family || '/*', former_name] && opened.allowed_models
                          from (select ${REQUESTS.columns(['entry_id', 'family', 'former_name'])}) asked) then 'model' end as refusal,
         case when opened.monthly_cap_micro_vnd is not null and held.amount_micro_vnd is null
              then coalesce(opened.limit_reset, 'never') end as limited
    from requests
    left join lateral key_by_hash(decode(requests.key_hash, 'hex')) opened on true
    left join lateral (
      select amount_micro_vnd from hold
       where hold.account_id = opened.account_id and hold.call_id = requests.call_id limit 1) held on true),
`
/**
 * Locks the wallets. Then finds the calls of keys with a limit, and what that limit still allows each of them. A limit that was
 * removed while the statement waited for a wallet is null, and so is `room`; `least` and `greatest` ignore it.
 */
const LIMITED_CALLS = `locked_wallets as materialized (
  select account_id from wallet where account_id in (select account_id from known where refusal is null)
   order by account_id for no key update),
standings as materialized (
  select of_key.account_id, of_key.key_id, of_key.standing
    from (select array_agg(account_id) as accounts, array_agg(key_id) as keys
            from (select distinct account_id, key_id from known
                   where limited is not null and refusal is null and (select count(*) from locked_wallets) > 0) limited_keys) given,
         key_standings(given.accounts, given.keys) of_key),
limited_calls as materialized (
  select *, case when room is null or upto <= room then target
                 when upto - target + want <= room or (upto = target and standing[3] = 0) then greatest(0, room - upto + target)
                 else 0 end as most, room - upto + target as rest
    from (
      select *, sum(target) over (partition by account_id, key_id order by n rows unbounded preceding)::bigint as upto
        from (
          select *, greatest(want, least(want_max, room / 16)) as target
            from (
              select *, standing[1] - standing[2] - standing[3] as room
                from (
                  select n, v, call_id, want, want_max, account_id, key_id, limited,
                         max(of_key) over (partition by account_id, key_id) as standing
                    from (
                      select n, v, call_id, want, want_max, account_id, key_id, limited, null::bigint[] as of_key
                        from known where limited is not null and refusal is null
                      union all
                      select null, null, null, null, null, account_id, key_id, null, standing from standings
                    ) calls_and_keys) every_call
               where n is not null) roomy) aimed) summed),
`
const ASKED = `-- The calls that their keys may make.
asked as materialized (
  select n, v, call_id, want, want_max, account_id, key_id, null::bigint as rest
    from known where refusal is null and had is null and limited is null`
const ASKED_WITHIN_LIMITS = `
   union all
  select n, v, call_id, least(want, most), most, account_id, key_id, rest from limited_calls where most > 0`
const GRANTED = `),
-- What the calls of each wallet request, in order.
wants as materialized (
  select account_id, array_agg(want order by n) as wants, array_agg(want_max order by n) as wants_max
    from asked group by account_id order by account_id),
-- Adds to each wallet's held sum what its calls are granted further below.
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
    from wants where wallet.account_id = wants.account_id
  returning wallet.account_id, old.balance_micro_vnd as balance,
            old.balance_micro_vnd - old.held_micro_vnd as free, old.held_micro_vnd as held),
-- One row for each wallet, with its figures before the update, followed by one row for each of its calls.
wallets_and_calls as (
  select account_id, 0 as n, null::text[] as v, null::uuid as call_id, null::bigint as key_id, 0::bigint as want,
         0::bigint as want_max, null::bigint as rest, balance, free, held from updated_wallets
  union all
  select account_id, n, v, call_id, key_id, want, want_max, rest, null, null, null from asked),
-- Adds its wallet's figures to each row.
calls as (
  select account_id, n, v, call_id, key_id, want, want_max, rest,
         first_value(balance) over its_wallet as balance, first_value(free) over its_wallet as free,
         first_value(held) over its_wallet as held
    from wallets_and_calls
  window its_wallet as (partition by account_id order by n rows unbounded preceding)),
summed as (
  select *, sum(target) over (partition by account_id order by n rows unbounded preceding)::bigint as upto
    from (select *, greatest(want, least(want_max, balance / 16)) as target from calls where n > 0 and balance is not null) aimed),
grants as materialized (
  select *, least(greatest(0, free - (upto - target)), rest) as left_over, case
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
select array_agg(n)::text as n, array_agg(refusal)::text as refusal, array_agg(account_id)::text as account_id,
       array_agg(key_id)::text as key_id, array_agg(balance)::text as balance, array_agg(held)::text as held,
       array_agg(free)::text as free
  from (
    select n, null as refusal, account_id, key_id, balance, nullif(granted, 0) as held, left_over as free from grants
    union all
    select n, refusal, account_id, key_id, null, had, null from known where refusal is not null or had is not null
    union all`

/**
 * Admits calls in order. A call's target is its maximum hold, capped at a sixteenth of the balance so that sixteen such calls
 * can run side by side, but at least its minimum. If the free money (balance less holds) covers the target, the call gets it.
 * Otherwise it gets all that is left, provided that this covers its minimum, and later calls get nothing. The first call of a
 * wallet without holds gets what is left even if that is less than its minimum. A call that already has a hold gets the same
 * answer again.
 *
 * A key's own limit is divided among its calls in the same way, before the wallet's money is. The cost of the key's settled
 * calls in the current period and the holds of its calls in flight count against it. `key_standings` reads these figures once
 * the wallets are locked, and a window function passes them to the calls, as it does with the wallets' figures. The steps for
 * limits take time even if no key of the batch has a limit, and most keys have none. So HOLD omits these steps, and answers
 * `limited` for calls that need HOLD_WITHIN_LIMITS.
 *
 * Wallets are updated, and so locked, in account order: the session's settings allow only nested loops, which keep the order of
 * `wants` or of the only index of `wallet`. Only calls within limits need the wallets locked beforehand; for others, a separate
 * step would look each wallet up and log its lock once more. A wallet's new held sum is computed from the wallet's own columns,
 * because a CHECK must never see a figure based on a stale row. To give the calls of a wallet its figures, its updated row is
 * sorted in front of them, and a window function passes the figures on: joining two intermediate results would take quadratic
 * time in a plan that serves every batch size.
 */
export const HOLD = `${KNOWN}${ASKED}${GRANTED}
    select n, 'limited', account_id, key_id, null, null, null
      from known where limited is not null and refusal is null) answers`

/** Like HOLD, but also admits calls of keys with a limit. */
export const HOLD_WITHIN_LIMITS = `${KNOWN}${LIMITED_CALLS}${ASKED}${ASKED_WITHIN_LIMITS}${GRANTED}
    select n, array_to_string(standing, ':') || ':' || limited, account_id, key_id, null, null, null
      from limited_calls where most <= 0) answers`

/** The batch's answers in a single row: one array per column. */
type Row = Readonly<Record<Column, string | null>>
type Column = 'n' | 'refusal' | 'account_id' | 'key_id' | 'balance' | 'held' | 'free'

/** Returns one answer per request, in order. Rejects with the driver's error. */
export async function placeHolds(
  pool: StatementPool,
  rows: readonly HoldRow[],
  instanceId: string,
  { withinLimits = false }: { readonly withinLimits?: boolean } = {},
): Promise<readonly HoldResult[]> {
  const statement = withinLimits ? HOLD_WITHIN_LIMITS : HOLD
  const [row] = await pool.query<Row>(statement, [REQUESTS.pack(rows), instanceId])
  const results: HoldResult[] = rows.map(() => ({ active: false, state: 'unknown' }))
  const numbers = elementsOf(row?.n)
  const refusals = elementsOf(row?.refusal)
  const accountIds = elementsOf(row?.account_id)
  const keyIds = elementsOf(row?.key_id)
  const balances = elementsOf(row?.balance)
  const held = elementsOf(row?.held)
  const free = elementsOf(row?.free)
  for (let index = 0; index < numbers.length; index++) {
    const refusal = refusals[index]!
    const isKeyRefused = (REFUSED_KEY_STATES as readonly string[]).includes(refusal)
    results[Number(numbers[index]) - 1] = isKeyRefused
      ? { active: false, state: refusal as RefusedKeyState }
      : {
          active: true,
          accountId: Number(accountIds[index]),
          keyId: Number(keyIds[index]),
          heldMicroVnd: money(held[index]!),
          balanceMicroVnd: money(balances[index]!),
          freeMicroVnd: money(free[index]!),
          refusal: refusalOf(refusal),
        }
  }
  return results
}

/** How Postgres writes a null element of an array. */
const NULL = 'NULL'

function money(element: string): MicroVnd | null {
  return element === NULL ? null : microVnd(BigInt(element))
}

/** Parses a refusal: a single word, or `limit:spent:held:period`. */
function refusalOf(refusal: string): KeyLimit | 'model' | 'limited' | null {
  if (refusal === NULL) return null
  if (refusal === 'model' || refusal === 'limited') return refusal
  const [limit, spent, held, reset] = refusal.split(':') as [string, string, string, Period | 'never']
  return {
    limitMicroVnd: microVnd(BigInt(limit)),
    spentMicroVnd: microVnd(BigInt(spent)),
    heldMicroVnd: microVnd(BigInt(held)),
    reset: reset === 'never' ? null : reset,
  }
}
