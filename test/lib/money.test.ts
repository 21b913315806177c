import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatVnd, microVnd, vndToMicro } from '../../src/lib/money.ts'

test('prints µVND as decimal dong without rounding', () => {
  expect(formatVnd(microVnd(1_680_000n))).toBe('1.68')
  expect(formatVnd(microVnd(0n))).toBe('0')
  expect(formatVnd(microVnd(1n))).toBe('0.000001')
  expect(formatVnd(microVnd(-2_500_000n))).toBe('-2.5')
  expect(formatVnd(vndToMicro(50_000))).toBe('50000')
})

test('what is printed reads back as the same amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), amount => {
      const [whole, fraction = ''] = formatVnd(microVnd(amount)).replace('-', '').split('.')
      const absolute = BigInt(whole as string) * 1_000_000n + BigInt(fraction.padEnd(6, '0') || '0')
      expect(amount < 0n ? -absolute : absolute).toBe(amount)
    }),
  )
})

test('refuses parts of a dong, because prices are whole dong', () => {
  expect(() => vndToMicro(0.5)).toThrow(RangeError)
})
