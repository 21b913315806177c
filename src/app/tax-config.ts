/** Reads VAT rates from the environment. */

import type { TaxRate } from '../payments/tax.ts'
import type { Reader } from './reader.ts'

/** The default: 8 % until the end of 2026, then 10 %, for services covered by the temporary tax cut. Ask an accountant. */
const RATES: readonly TaxRate[] = [
  { from: '2025-07-01', percent: 8 },
  { from: '2027-01-01', percent: 10 },
]
const RATE = /^(20\d{2}-\d{2}-\d{2}):(KCT|\d{1,2})$/

/** Reads `TAX_RATES`, such as `2025-07-01:8,2027-01-01:10`; `KCT` instead of a number means exempt. */
export function readTaxRates(reader: Reader): readonly TaxRate[] {
  const text = reader.text('TAX_RATES')
  if (text === null) return RATES
  const rates = text.split(',').map(part => {
    const [, from = '', percent = ''] = RATE.exec(part.trim()) ?? []
    return { from, percent: percent === 'KCT' ? null : Number(percent) }
  })
  const isSorted = rates.every(({ from }, index) => index === 0 || from > (rates[index - 1]?.from ?? ''))
  if (isSorted && rates.every(({ from }) => !Number.isNaN(Date.parse(from)))) return rates
  reader.faults.push(
    `TAX_RATES is ${JSON.stringify(text)}; write start dates and percentages in order, such as 2025-07-01:8,2027-01-01:10; KCT in place of a percentage means exempt, such as 2025-07-01:KCT`,
  )
  return RATES
}
