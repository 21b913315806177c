/** What the environment says of the company behind the service, and how its customers reach it. */

import type { Company } from '../dashboard/options.ts'
import { readTaxCode } from '../lib/tax-code.ts'

/** As much of the environment's reader as is needed here. */
interface Reader {
  readonly faults: string[]
  text(name: string): string | null
}

const REQUIRED = ['COMPANY_NAME', 'COMPANY_ADDRESS', 'COMPANY_TAX_CODE', 'SUPPORT_EMAIL'] as const
const OPTIONAL = ['COMPANY_REPRESENTATIVE', 'SUPPORT_PHONE', 'SUPPORT_ZALO'] as const
const KNOWN: ReadonlySet<string> = new Set([...REQUIRED, ...OPTIONAL])
/** A mistyped name would leave the contact page without a word. */
const PREFIXES = /^(COMPANY|SUPPORT)_/
const EMAIL = /^[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@<>,;]+$/
const PHONE = /^\+?[\d ().-]{6,24}$/

/** Null where nothing is set, which production refuses. Notes every fault with the reader. */
export function readCompany(reader: Reader, names: Iterable<string>, production: boolean): Company | null {
  for (const name of names) {
    if (!PREFIXES.test(name) || KNOWN.has(name)) continue
    reader.faults.push(`${name} is not read by this gateway; there are ${[...KNOWN].sort().join(', ')}`)
  }
  const values = Object.fromEntries([...KNOWN].map(name => [name, reader.text(name)]))
  if (!production && Object.values(values).every(value => value === null)) return null
  for (const name of REQUIRED) {
    if (values[name] !== null) continue
    const why = production ? 'it is required with NODE_ENV=production' : `${REQUIRED.join(', ')} belong together`
    reader.faults.push(`${name} is not set; ${why}`)
  }
  const { COMPANY_TAX_CODE: taxCode, SUPPORT_EMAIL: email, SUPPORT_PHONE: phone, SUPPORT_ZALO: zalo } = values
  const read = readTaxCode(taxCode ?? '')
  if (taxCode && read.outcome === 'malformed') {
    reader.faults.push('COMPANY_TAX_CODE is no tax code; write its ten digits, with -001 and so on for a branch')
  }
  if (taxCode && read.outcome === 'wrong_check') {
    reader.faults.push('COMPANY_TAX_CODE has a wrong check digit; look at its ten digits again')
  }
  if (email && !EMAIL.test(email)) reader.faults.push('SUPPORT_EMAIL is not an address; write name@example.com')
  if (phone && !PHONE.test(phone)) reader.faults.push('SUPPORT_PHONE is no number; write it such as +84 28 1234 5678')
  if (zalo && !/^https:\/\/zalo\.me\/\w+$/.test(zalo)) {
    reader.faults.push('SUPPORT_ZALO is no link; write https://zalo.me/ and the number or name')
  }
  return {
    name: values.COMPANY_NAME ?? '',
    address: values.COMPANY_ADDRESS ?? '',
    taxCode: 'code' in read ? read.code : '',
    representative: values.COMPANY_REPRESENTATIVE ?? null,
    email: email ?? '',
    phone: phone ?? null,
    zalo: zalo ?? null,
  }
}
