import { expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { PRODUCTION, TEST_COMPANY } from '../support/gateway.ts'

const read = (environment: Record<string, string>) => readConfig({ environment, upstreamIds: [] })

test('production requires a company and a way to reach it; development does not', () => {
  expect(read({}).company).toBeNull()
  expect(read(PRODUCTION).company).toEqual({
    name: TEST_COMPANY.COMPANY_NAME,
    address: TEST_COMPANY.COMPANY_ADDRESS,
    taxCode: '0302712571',
    representative: null,
    email: 'help@example.com',
    phone: null,
    zalo: null,
  })
  for (const name of Object.keys(TEST_COMPANY)) {
    expect(() => read({ ...PRODUCTION, [name]: '' })).toThrow(`${name} is not set; it is required`)
    expect(() => read({ ...TEST_COMPANY, [name]: '' })).toThrow(`${name} is not set`)
  }
})

test.each([
  ['COMPANY_TAX_CODE', '12345', 'is not a tax code'],
  ['COMPANY_TAX_CODE', '0302712572', 'has a wrong check digit'],
  ['SUPPORT_EMAIL', 'help', 'is not an address'],
  ['SUPPORT_PHONE', 'call us', 'is not a phone number'],
  ['SUPPORT_ZALO', 'http://zalo.me/1', 'is not a link'],
  ['COMPANY_TAXCODE', '0302712571', 'is not read by this gateway'],
  ['CONTENT_DIR', '/nowhere/at/all', 'is not a folder'],
])('%s=%s prevents the start', (name, value, fault) => {
  expect(() => read({ ...TEST_COMPANY, [name]: value })).toThrow(`${name} ${fault}`)
})
