/** Receipts for the accountant: incoming bank transfers, one row each, with the tax that they include. */

import type { AnySql } from '../lib/database.ts'
import { type Buyer, readBuyer } from './buyer.ts'
import { splitTax, type TaxedAmount, type TaxRate, taxRateOn } from './tax.ts'

export interface Receipt extends TaxedAmount {
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
  readonly buyer: Buyer | null
}

const OF_DAY = `
select c.at, c.account_id, a.email, (c.amount_micro_vnd / 1000000)::text as gross, coalesce(b.order_code, c.note, '') as order_code,
       coalesce(b.bank_ref, b.provider_ref, '') as bank_reference, coalesce(b.provider, '') as provider, b.buyer
  from credit c join account a using (account_id)
  left join bank_txn b on b.bank_txn_id = case when c.reference ~ '^bank_txn:\\d{1,18}$' then substr(c.reference, 10)::bigint end
 where c.kind = 1 and c.at >= $1::text::timestamp at time zone 'Asia/Ho_Chi_Minh'
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
    return {
      ...splitTax(BigInt(row.gross), rate),
      at: row.at,
      day,
      accountId: Number(row.account_id),
      email: buyer?.email || row.email,
      orderCode: row.order_code,
      bankReference: row.bank_reference,
      provider: row.provider,
      buyer,
    }
  })
}
