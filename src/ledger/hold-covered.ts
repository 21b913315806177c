/**
 * The short way to place holds: for wallets whose free money covers the largest holds of all their calls in the batch, and keys
 * that have not changed since this process read them. Nearly every call is one of these.
 */

import { elementsOf, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { packedRows } from '../lib/packed-rows.ts'
import type { HoldResult, HoldRow } from './hold.ts'
import { PRICE_PER_CODES } from './types.ts'
import { byWallet } from './wallets.ts'

const CALLS = packedRows<HoldRow>('nested')({
  call_id: ['uuid', row => row.callId],
  key_id: ['bigint', row => row.access!.keyId],
  amount: ['bigint', row => row.holdMaxMicroVnd],
  entry_id: ['text', row => row.entryId],
  requested_name: ['text', row => row.requestedName],
  endpoint: ['smallint', row => row.endpoint],
  price_vnd: ['bigint', row => row.priceVnd],
  price_per: ['smallint', row => PRICE_PER_CODES[row.pricePer]],
})

interface Wallet {
  readonly accountId: number
  readonly keysVersion: number
  readonly calls: readonly HoldRow[]
}

const WALLETS = packedRows<Wallet>()({
  account_id: ['bigint', wallet => wallet.accountId],
  keys_version: ['bigint', wallet => wallet.keysVersion],
  total: ['bigint', ({ calls }) => calls.reduce((sum, call) => sum + call.holdMaxMicroVnd, 0n)],
  balance_min: ['bigint', ({ calls }) => calls.reduce((most, call) => larger(most, balanceMin(call)), 0n)],
  calls: ['text', wallet => CALLS.pack(wallet.calls), 'packed'],
})

/**
 * Grants each call of a wallet its largest hold, in order, if HOLD would: the key's state is still the one that this process
 * knows, the free money covers all of them, and a sixteenth of the balance covers each hold that is larger than its minimum. A
 * wallet that fails one of these conditions is left out, with all its calls. Wallets are updated, and so locked, in the order of
 * the parameter, which is by account.
 */
export const HOLD_COVERED = `
with wallets as materialized (${WALLETS.select('$1', ['account_id', 'keys_version', 'total', 'balance_min', 'calls'])}),
updated_wallets as (
  update wallet set held_micro_vnd = wallet.held_micro_vnd + wallets.total
    from wallets
   where wallet.account_id = wallets.account_id and wallet.keys_version = wallets.keys_version
     and wallet.balance_micro_vnd - wallet.held_micro_vnd >= wallets.total and wallet.balance_micro_vnd >= wallets.balance_min
  returning wallets.n, wallets.calls, wallet.account_id, wallet.balance_micro_vnd as balance,
            old.balance_micro_vnd - old.held_micro_vnd as free),
inserted_holds as (
  insert into hold (account_id, call_id, key_id, amount_micro_vnd, instance_id, entry_id, requested_name, endpoint, price_vnd,
                    price_per)
  select account_id, call_id, key_id, amount, $2::text::bigint, entry_id, requested_name, endpoint, price_vnd, price_per
    from updated_wallets
   cross join lateral (${CALLS.select('updated_wallets.calls', ['call_id', 'key_id', 'amount', 'entry_id', 'requested_name', 'endpoint', 'price_vnd', 'price_per'])}) calls)
select array_agg(n)::text as n, array_agg(balance)::text as balance, array_agg(free)::text as free from updated_wallets`

/** The batch's answers in a single row: one array per column. */
type Row = Readonly<Record<'n' | 'balance' | 'free', string | null>>

/**
 * Returns one answer per request, in order: an admitted call, or null for a call that HOLD has to decide, because its wallet was
 * left out, or because an earlier call of the wallet knows its keys at another version. Each request must have its key's `access`,
 * and must not have been sent before. Rejects with the driver's error.
 */
export async function placeCoveredHolds(
  pool: StatementPool,
  rows: readonly HoldRow[],
  instanceId: string,
): Promise<readonly (HoldResult | null)[]> {
  const wallets = byWallet(rows, row => row.access!.accountId).map(({ accountId, indexes }) => {
    const { keysVersion } = rows[indexes[0]!]!.access!
    const different = indexes.findIndex(index => rows[index]!.access!.keysVersion !== keysVersion)
    const alike = different < 0 ? indexes : indexes.slice(0, different)
    return { accountId, keysVersion, indexes: alike, calls: alike.map(index => rows[index]!) }
  })
  const [row] = await pool.query<Row>(HOLD_COVERED, [WALLETS.pack(wallets), instanceId])
  const results: (HoldResult | null)[] = rows.map(() => null)
  const balances = elementsOf(row?.balance)
  const free = elementsOf(row?.free)
  for (const [place, n] of elementsOf(row?.n).entries()) {
    const { accountId, calls, indexes } = wallets[Number(n) - 1]!
    const balanceMicroVnd = money(balances[place]!)
    let left = BigInt(free[place]!)
    for (const [index, { access, holdMaxMicroVnd }] of calls.entries()) {
      results[indexes[index]!] = {
        active: true,
        accountId,
        keyId: access!.keyId,
        heldMicroVnd: holdMaxMicroVnd,
        balanceMicroVnd,
        freeMicroVnd: microVnd(left),
        refusal: null,
      }
      left -= holdMaxMicroVnd
    }
  }
  return results
}

/** The balance that allows a call its largest hold: HOLD limits what exceeds the minimum to a sixteenth. */
function balanceMin({ holdMinMicroVnd, holdMaxMicroVnd }: HoldRow): bigint {
  return holdMaxMicroVnd > holdMinMicroVnd ? holdMaxMicroVnd * 16n : 0n
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function money(element: string): MicroVnd {
  return microVnd(BigInt(element))
}
