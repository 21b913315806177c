/**
 * The short way to settle: for wallets whose balance covers all their calls in the batch, and calls whose hold is as this process
 * last saw it. Nearly every call is one of these.
 */

import { elementsOf, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { type PackedColumn, packedRows } from '../lib/packed-rows.ts'
import { RECORD_CHARGES, SETTLEMENT_COLUMNS, type SettledBatch, type SettledCall, type WalletState } from './settle.ts'
import type { Settlement } from './types.ts'
import { byWallet } from './wallets.ts'

export interface HeldSettlement {
  readonly settlement: Settlement
  /** The call's hold. */
  readonly heldMicroVnd: MicroVnd
}

interface CoveredCall extends HeldSettlement {
  /** The cost of the wallet's calls in the batch up to this one. */
  readonly costSoFarMicroVnd: bigint
}

interface Wallet {
  readonly accountId: number
  readonly calls: readonly CoveredCall[]
}

type Name = keyof typeof SETTLEMENT_COLUMNS
const CALLS = packedRows<CoveredCall>('nested')({
  // In the order of SETTLEMENT_COLUMNS, because RECORD_CHARGES reads them by position.
  ...(Object.fromEntries(
    Object.entries<PackedColumn<Settlement>>(SETTLEMENT_COLUMNS).map(([name, [type, read]]) => [
      name,
      [type, ({ settlement }: CoveredCall) => read(settlement)],
    ]),
  ) as unknown as Readonly<Record<Name, PackedColumn<CoveredCall>>>),
  amount: ['bigint', call => call.heldMicroVnd],
  cost_so_far: ['bigint', call => call.costSoFarMicroVnd],
})

const WALLETS = packedRows<Wallet>()({
  account_id: ['bigint', wallet => wallet.accountId],
  held: ['bigint', ({ calls }) => calls.reduce((sum, call) => sum + call.heldMicroVnd, 0n)],
  cost: ['bigint', ({ calls }) => calls.at(-1)!.costSoFarMicroVnd],
  count: ['bigint', ({ calls }) => calls.length],
  calls: ['text', wallet => CALLS.pack(wallet.calls), 'packed'],
})

/**
 * Charges each call its cost and frees its hold, as SETTLE would: the balance covers the costs of all the wallet's calls. A wallet
 * whose balance does not is left out, with all its calls. So is one that holds less than these calls: the row that the condition
 * sees may lack an extension that has just been committed. If the hold of any call of the other wallets is gone, or has another
 * account, key, price or amount, even since the statement began, all of it fails, and SETTLE has to decide. Wallets are updated,
 * and so locked, in the order of the parameter, which is by account.
 */
export const SETTLE_COVERED = `
with wallets as materialized (${WALLETS.select('$1', ['account_id', 'held', 'cost', 'count', 'calls'])}),
updated_wallets as (
  update wallet set
     balance_micro_vnd = wallet.balance_micro_vnd - wallets.cost,
     held_micro_vnd    = wallet.held_micro_vnd - wallets.held,
     seq               = wallet.seq + wallets.count
    from wallets
   where wallet.account_id = wallets.account_id and wallet.balance_micro_vnd >= wallets.cost and wallet.held_micro_vnd >= wallets.held
  returning wallets.n, wallets.calls, wallet.account_id, old.balance_micro_vnd as balance, old.seq as seq,
            wallet.balance_micro_vnd as balance_now, wallet.balance_micro_vnd - wallet.held_micro_vnd as available_now),
-- Finds each hold by itself: of a join, the planner would read all holds if autovacuum last saw the table while it was empty.
charges as materialized (
  select updated_wallets.account_id, seq + calls.n as seq, balance - cost_so_far as balance_after, v, cost, cost as charged, amount,
         place, greatest(opened_at, now() - interval '89 days') as opened_at
    from updated_wallets
   cross join lateral (${CALLS.select('updated_wallets.calls', ['call_id', 'key_id', 'cost', 'price_vnd', 'price_per', 'amount', 'cost_so_far'])}) calls
    left join lateral (
      select ctid as place, opened_at from hold
       where hold.call_id = calls.call_id and hold.account_id = updated_wallets.account_id and hold.key_id = calls.key_id
         and hold.price_vnd = calls.price_vnd and hold.price_per = calls.price_per and hold.amount_micro_vnd = calls.amount
       limit 1) held on true),
-- A hold that has grown since the statement began is skipped, or deleted with its new amount by early releases of Postgres 18.
deleted_holds as (
  delete from hold where ctid = any(array(select place from charges)) returning amount_micro_vnd),
${RECORD_CHARGES}
select array_agg(n)::text as n, array_agg(balance)::text as balance, array_agg(balance_now)::text as balance_now,
       array_agg(available_now)::text as available_now,
       must_be((select count(*) from deleted_holds), (select count(*) from charges)) as complete,
       must_be((select sum(amount_micro_vnd)::bigint from deleted_holds), (select sum(amount)::bigint from charges)) as unchanged
  from updated_wallets`

/** The batch's answers in a single row: one array per column. */
type Row = Readonly<Record<'n' | 'balance' | 'balance_now' | 'available_now', string | null>>

/**
 * Settles the calls of the wallets that cover them; the others are null in the answer. Rejects with the driver's error: 23505 if a
 * call was settled before, GW001 if a hold is not as given; then nothing is settled. A call must not occur twice.
 */
export async function settleCoveredCalls(pool: StatementPool, batch: readonly HeldSettlement[]): Promise<SettledBatch> {
  const rows = byWallet(batch, call => call.settlement.accountId).map(({ accountId, indexes }) => {
    let costSoFarMicroVnd = 0n
    const calls = indexes.map((index): CoveredCall => {
      const { settlement, heldMicroVnd } = batch[index]!
      costSoFarMicroVnd += settlement.costMicroVnd
      return { settlement, heldMicroVnd, costSoFarMicroVnd }
    })
    return { accountId, indexes, calls }
  })
  const [row] = await pool.query<Row>(SETTLE_COVERED, [WALLETS.pack(rows)])
  const calls: (SettledCall | null)[] = batch.map(() => null)
  const wallets = new Map<number, WalletState>()
  const balances = elementsOf(row?.balance)
  const balancesNow = elementsOf(row?.balance_now)
  const availableNow = elementsOf(row?.available_now)
  for (const [place, n] of elementsOf(row?.n).entries()) {
    const { accountId, indexes, calls: ofWallet } = rows[Number(n) - 1]!
    const balance = BigInt(balances[place]!)
    for (const [index, { settlement, costSoFarMicroVnd }] of ofWallet.entries()) {
      const balanceAfterMicroVnd = microVnd(balance - costSoFarMicroVnd)
      calls[indexes[index]!] = { chargedMicroVnd: settlement.costMicroVnd, balanceAfterMicroVnd }
    }
    wallets.set(accountId, {
      balanceMicroVnd: microVnd(BigInt(balancesNow[place]!)),
      availableMicroVnd: microVnd(BigInt(availableNow[place]!)),
    })
  }
  return { calls, wallets }
}
