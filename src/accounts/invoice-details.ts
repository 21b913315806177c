/** Who a customer's invoices are made out to. A top-up keeps a copy of these details as they were when it was credited. */

import type { AnySql } from '../lib/database.ts'
import { readTaxCode } from '../lib/tax-code.ts'
import { readEmail } from './accounts.ts'

export interface InvoiceDetails {
  readonly name: string
  /** '' if the buyer has none. */
  readonly taxCode: string
  readonly address: string
  readonly email: string
  /** If false, invoices are made out to an anonymous consumer instead of this customer. */
  readonly wanted: boolean
}

export const INVOICE_CHARACTERS_MAX = { name: 200, taxCode: 20, address: 300, email: 254 } as const

export type InvoiceFault = 'missing' | 'malformed' | 'wrong_check'
export type InvoiceFaults = { readonly [Field in 'name' | 'taxCode' | 'address' | 'email']?: InvoiceFault }

const READ = 'select name, tax_code, address, email, wanted from invoice_details where account_id = $1::text::bigint'
const WRITE = `insert into invoice_details as d (account_id, name, tax_code, address, email, wanted)
  values ($1::text::bigint, $2, $3, $4, $5, $6::text::boolean)
  on conflict (account_id) do update set name = excluded.name, tax_code = excluded.tax_code, address = excluded.address,
    email = excluded.email, wanted = excluded.wanted, changed_at = now()`

export async function readInvoiceDetails(sql: AnySql, accountId: number): Promise<InvoiceDetails | null> {
  const row = (await sql.unsafe(READ, [String(accountId)]))[0]
  if (row === undefined) return null
  return { name: row.name, taxCode: row.tax_code, address: row.address, email: row.email, wanted: row.wanted }
}

/**
 * Returns the faults field by field or, if there are none, the details as they will be stored. A tax code with a wrong check
 * digit is a fault unless it equals `sureOf`, the code that the customer has confirmed.
 */
export function checkInvoiceDetails(
  given: InvoiceDetails,
  { sureOf }: { readonly sureOf: string },
): { readonly faults: InvoiceFaults; readonly details: InvoiceDetails } {
  const taxCode = readTaxCode(given.taxCode)
  const email = readEmail(given.email)
  const faults: { -readonly [Field in keyof InvoiceFaults]: InvoiceFaults[Field] } = {}
  if (given.taxCode !== '') {
    if (taxCode.outcome === 'malformed') faults.taxCode = 'malformed'
    else if (taxCode.outcome === 'wrong_check' && sureOf !== taxCode.code) faults.taxCode = 'wrong_check'
  }
  if (given.email !== '' && email === null) faults.email = 'malformed'
  if (given.wanted) {
    for (const field of ['name', 'address', 'email'] as const) if (given[field] === '') faults[field] = 'missing'
  }
  const code = 'code' in taxCode ? taxCode.code : given.taxCode
  return { faults, details: { ...given, taxCode: code, email: email ?? given.email } }
}

export async function writeInvoiceDetails(sql: AnySql, accountId: number, details: InvoiceDetails): Promise<void> {
  const { name, taxCode, address, email, wanted } = details
  await sql.unsafe(WRITE, [String(accountId), name, taxCode, address, email, String(wanted)])
}
