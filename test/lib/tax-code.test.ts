import { expect, test } from 'vitest'
import { readTaxCode } from '../../src/lib/tax-code.ts'

test.each([
  ['0302712571', '0302712571'],
  ['0100109106', '0100109106'],
  [' 0100 109 106 ', '0100109106'],
  ['0100109106-001', '0100109106-001'],
  ['0100109106002', '0100109106-002'],
  ['001234567890', '001234567890'],
])('%j is read as %s', (text, code) => {
  expect(readTaxCode(text)).toEqual({ outcome: 'ok', code })
})

test.each(['0302712572', '0100109107', '0302712517', '0100000005'])('%j has a wrong check digit', code => {
  expect(readTaxCode(code)).toEqual({ outcome: 'wrong_check', code })
})

test.each(['', '123', '01001091066', '0100109106-1', '0100109106-000', '010010910x', '٠١٠٠١٠٩١٠٦', '0100109106-0011'])(
  '%j is no tax code',
  text => {
    expect(readTaxCode(text)).toEqual({ outcome: 'malformed' })
  },
)

test('every changed digit, and every swap of two unequal neighbours, is noticed', () => {
  const code = '0302712571'
  for (let index = 0; index < 10; index++) {
    const other = String((Number(code[index]) + 1) % 10)
    const changed = `${code.slice(0, index)}${other}${code.slice(index + 1)}`
    expect([changed, readTaxCode(changed).outcome]).toEqual([changed, 'wrong_check'])
  }
})
