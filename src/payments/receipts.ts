/** Receipts for the accountant: all credits, one row each, and the tax that incoming bank transfers include. */

import { CREDIT_KINDS, type CreditKind, creditKindOf } from '../lib/credit-kinds.ts'
import type { AnySql } from '../lib/database.ts'
import { MICRO_PER_VND, type MicroVnd, microVnd } from '../lib/money.ts'
import { type Buyer, readBuyer } from './buyer.ts'
import { splitTax, type TaxedAmount, type TaxRate, taxRateOn } from './tax.ts'

export interface Receipt {
  readonly kind: CreditKind
  /** Negative if money was taken from the wallet. */
  readonly amountMicroVnd: MicroVnd
  /** Null except for bank transfers: whether an adjustment or a refund changes the tax is for the accountant to decide. */
  readonly tax: TaxedAmount | null
  readonly at: Date
  /** The day in Vietnam, such as `2026-11-21`. */
  readonly day: string
  readonly accountId: number
  /** Where the buyer wants the invoice; the account's address if the buyer wants none. */
  readonly email: string
  /** '' if an operator credited the transfer to an account rather than an order. */
  readonly orderCode: string
  readonly bankReference: string
  readonly provider: string
  /** Why an operator adjusted the balance or refunded a call; otherwise ''. */
  readonly note: string
  readonly buyer: Buyer | null
}

const OF_DAY = `
select c.at, c.account_id, c.kind, a.email, c.amount_micro_vnd::text as amount,
       case when c.kind = ${CREDIT_KINDS.bank_topup} then coalesce(b.order_code, c.note, '') else '' end as order_code,
       case when c.kind = ${CREDIT_KINDS.bank_topup} then '' else coalesce(c.note, '') end as note,
       coalesce(b.bank_ref, b.provider_ref, '') as bank_reference, coalesce(b.provider, '') as provider, b.buyer
  from credit c join account a using (account_id)
  left join bank_txn b on b.bank_txn_id = case when c.kind = ${CREDIT_KINDS.bank_topup} and c.reference ~ '^bank_txn:\\d{1,18}$' then substr(c.reference, 10)::bigint end
 where c.at >= $1::text::timestamp at time zone 'Asia/Ho_Chi_Minh'
   and c.at < ($1::text::timestamp + interval '1 day') at time zone 'Asia/Ho_Chi_Minh'
 order by c.at, c.account_id, c.seq`

/** The receipts of one day in Vietnam, such as `2026-11-21`, oldest first. */
export async function readReceipts(
  sql: AnySql,
  { day, rates }: { readonly day: string; readonly rates: readonly TaxRate[] },
): Promise<readonly Receipt[]> {
  const rate = taxRateOn(rates, day)
  const rows = await sql.unsafe(OF_DAY, [day])
  return rows.map(row => {
    const buyer = readBuyer(row.buyer)
    const kind = creditKindOf(row.kind)
    return {
      kind,
      amountMicroVnd: microVnd(BigInt(row.amount)),
      tax: kind === 'bank_topup' ? splitTax(BigInt(row.amount) / MICRO_PER_VND, rate) : null,
      at: row.at,
      day,
      accountId: Number(row.account_id),
      email: buyer?.email || row.email,
      orderCode: row.order_code,
      bankReference: row.bank_reference,
      provider: row.provider,
      note: row.note,
      buyer,
    }
  })
}
