import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/app/config.ts'
import { splitTax, taxRateOn } from '../../src/payments/tax.ts'

const ratesOf = (text?: string) =>
  readConfig({ environment: text === undefined ? {} : { TAX_RATES: text }, upstreamIds: [] }).taxRates

test('the rate is the one in force that day; before the first, the first', () => {
  const percentOn = (day: string, text?: string) => taxRateOn(ratesOf(text), day).percent
  expect(['2024-01-01', '2025-07-01', '2026-12-31', '2027-01-01', '2030-05-05'].map(day => percentOn(day))).toEqual([
    ...[8, 8, 8, 10, 10],
  ])
  expect(percentOn('2026-11-22', '2020-01-01:KCT, 2026-11-22:5')).toBe(5)
  expect(percentOn('2026-11-21', '2020-01-01:KCT,2026-11-22:5')).toBeNull()
})

test('net and tax are whole dong and add up to the gross, net rounded half up', () => {
  for (const [gross, percent, net] of [
    [108_000n, 8, 100_000n],
    [100_000n, 8, 92_593n],
    [50_000n, 10, 45_455n],
    [1n, 10, 1n],
    [77_777n, null, 77_777n],
    [0n, 8, 0n],
    [999_999_999_999n, 8, 925_925_925_925n],
  ] as const) {
    expect(splitTax(gross, { percent })).toEqual({ grossVnd: gross, netVnd: net, taxVnd: gross - net, percent })
  }
})

test.each(['8', '2026-01-01', '2026-01-01:8%', '2027-01-01:10,2026-01-01:8', '2026-13-01:8', '2026-01-01:8,'])(
  'TAX_RATES=%s prevents the start, with an error that says what to write',
  text => {
    expect(() => ratesOf(text)).toThrow(ConfigError)
    expect(() => ratesOf(text)).toThrow('such as 2025-07-01:8,2027-01-01:10')
  },
)
