/** Compares what the banks reported with what was booked. Every difference must be zero. */

import type { AnySql } from '../lib/database.ts'

export interface PaymentAudit {
  readonly clean: boolean
  readonly differences: {
    /** Credited transactions without a credit of their amount on their account. */
    readonly unbooked: number
    /** Credits by bank transfer without a credited transaction. */
    readonly unfounded: number
    /** Orders whose paid sum is not that of their transactions. */
    readonly orders: number
    /** Transactions that nobody has judged for five minutes. */
    readonly undecided: number
  }
  readonly creditedVnd: bigint
}

const AUDIT = `
select
  (select count(*) from bank_txn b where b.state = 1 and not exists (
     select from credit c where c.account_id = b.account_id and c.kind = 1 and c.reference = 'bank_txn:' || b.bank_txn_id
        and c.amount_micro_vnd = b.amount_vnd * 1000000))::integer as unbooked,
  (select count(*) from credit c where c.kind = 1 and not exists (
     select from bank_txn b where b.state = 1 and b.account_id = c.account_id and c.reference = 'bank_txn:' || b.bank_txn_id))::integer
     as unfounded,
  (select count(*) from topup_order o
     left join (select order_code, sum(amount_vnd) as paid from bank_txn where state = 1 group by 1) b using (order_code)
    where o.paid_vnd <> coalesce(b.paid, 0))::integer as orders,
  (select count(*) from bank_txn where state = 0 and received_at < now() - interval '5 minutes')::integer as undecided,
  (select coalesce(sum(amount_vnd), 0) from bank_txn where state = 1)::text as credited`

export async function auditPayments(sql: AnySql): Promise<PaymentAudit> {
  const { unbooked, unfounded, orders, undecided, credited } = (await sql.unsafe(AUDIT))[0]!
  const differences = { unbooked, unfounded, orders, undecided }
  return {
    clean: Object.values(differences).every(difference => difference === 0),
    differences,
    creditedVnd: BigInt(credited),
  }
}
