/** Environment settings for the company that runs the service and how customers reach it. */

import type { Company } from '../dashboard/options.ts'
import { readTaxCode } from '../lib/tax-code.ts'

interface Reader {
  readonly faults: string[]
  text(name: string): string | null
}

const REQUIRED = ['COMPANY_NAME', 'COMPANY_ADDRESS', 'COMPANY_TAX_CODE', 'SUPPORT_EMAIL'] as const
const OPTIONAL = ['COMPANY_REPRESENTATIVE', 'SUPPORT_PHONE', 'SUPPORT_ZALO'] as const
const KNOWN: ReadonlySet<string> = new Set([...REQUIRED, ...OPTIONAL])
/**
 * Unknown variables with one of these prefixes are rejected, because a mistyped name would silently leave its value off the
 * contact page.
 */
const PREFIXES = /^(COMPANY|SUPPORT)_/
const EMAIL = /^[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@<>,;]+$/
const PHONE = /^\+?[\d ().-]{6,24}$/

/** Reads the company's details and collects faults in `reader`. Null when none are set, which is a fault in production. */
export function readCompany(reader: Reader, names: Iterable<string>, production: boolean): Company | null {
  for (const name of names) {
    if (!PREFIXES.test(name) || KNOWN.has(name)) continue
    reader.faults.push(`${name} is not read by this gateway; it reads ${[...KNOWN].sort().join(', ')}`)
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
    reader.faults.push('COMPANY_TAX_CODE is not a tax code; write its ten digits, followed by e.g. -001 for a branch')
  }
  if (taxCode && read.outcome === 'wrong_check') {
    reader.faults.push('COMPANY_TAX_CODE has a wrong check digit; look for a typo in its ten digits')
  }
  if (email && !EMAIL.test(email)) reader.faults.push('SUPPORT_EMAIL is not an address; write name@example.com')
  if (phone && !PHONE.test(phone))
    reader.faults.push('SUPPORT_PHONE is not a phone number; write e.g. +84 28 1234 5678')
  if (zalo && !/^https:\/\/zalo\.me\/\w+$/.test(zalo)) {
    reader.faults.push('SUPPORT_ZALO is not a link; write https://zalo.me/ followed by the number or name')
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
