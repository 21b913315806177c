/** What a call costs the operator, computed from the YAML: exact in µVND, by date and kind of token. */

import { expect, test } from 'vitest'
import { formatFindings } from '../../codegen/findings.ts'
import { entryMargins } from '../../codegen/margin/margins.ts'
import type { SourceText } from '../../codegen/source.ts'
import { type CostUnits, costAt, costIfReported, parseDecimal, targetCosts } from '../../src/catalogue/cost.ts'
import type { Tables } from '../../src/generated/types.ts'
import { changedTables } from '../support/tables.ts'
import { compiler, goodTexts } from './support.ts'

const FX = 'fx: { from: 2026-01-01, vnd_per_usd: 26300 }'
const DAY = '2026-06-01'

interface Facts {
  readonly cost: string
  /** Extra YAML lines for the model's upstream. */
  readonly upstream?: string
  /** The exchange rate in the catalogue's defaults, as YAML. */
  readonly fx?: string
}

function costly({ cost, upstream = '', fx = FX }: Facts): SourceText[] {
  const replacements: Readonly<Record<string, readonly [string, string]>> = {
    'families/beta.yaml': ['{ id: beta-2,', `{ id: beta-2, cost: ${cost},`],
    'upstreams.yaml': ['    auth: { scheme: bearer }\n', `    auth: { scheme: bearer }\n${upstream}`],
    'catalogue.yaml': ['defaults: {', `defaults: { ${fx}${fx === '' ? '' : ','}`],
  }
  return goodTexts().map(source => {
    const [from, to] = replacements[source.path.replace('catalogue/', '')] ?? ['', '']
    return { ...source, text: source.text.replace(from, () => to) }
  })
}

function tablesOf(texts: readonly SourceText[]): Tables {
  const { tables, findings } = compiler.compile(texts)
  if (tables === null) throw new Error(formatFindings(findings, 'text'))
  return tables
}

/** The cost rates of beta-2 at a given time. */
function ratesOf(facts: Facts, at = DAY) {
  const tables = tablesOf(costly(facts))
  const target = tables.entries.find(({ id }) => id === 'beta-2')?.upstreams[0]
  return (target && targetCosts(tables).get(target))?.ratesAt(Date.parse(at)) ?? null
}

const used = (units: Partial<CostUnits>): CostUnits => ({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  images: 0,
  ...units,
})

function costOf(facts: Facts, units: Partial<CostUnits>, at = DAY) {
  const rates = ratesOf(facts, at)
  return rates && costAt(rates, used(units))
}

test('each kind of token has its price, and a million of each costs exactly that', () => {
  const facts = { cost: '{ from: 2026-01-01, input: 5, cached: 0.5, cache_write: 6.25, output: 25 }' }
  const M = 1_000_000
  expect(costOf(facts, { inputTokens: M })).toBe(131_500_000_000n)
  expect(costOf(facts, { inputTokens: M, cachedInputTokens: M })).toBe(13_150_000_000n)
  expect(costOf(facts, { inputTokens: M, cacheWriteTokens: M })).toBe(164_375_000_000n)
  expect(costOf(facts, { outputTokens: M })).toBe(657_500_000_000n)
  expect(costOf(facts, { inputTokens: 100, cachedInputTokens: 70, cacheWriteTokens: 20, outputTokens: 3 })).toBe(
    BigInt(10 * 131_500 + 70 * 13_150 + 20 * 164_375 + 3 * 657_500),
  )
})

test('without prices of their own, tokens read from and written to the cache cost as much as other input', () => {
  const facts = { cost: '{ from: 2026-01-01, input: 2, output: 4 }' }
  const units = { inputTokens: 10, cachedInputTokens: 5, cacheWriteTokens: 4, outputTokens: 1 }
  expect(costOf(facts, units)).toBe(BigInt(10 * 2 * 26_300 + 4 * 26_300))
})

test('prices per image and per call are added to those per token', () => {
  const facts = { cost: '{ from: 2026-01-01, input: 5, output: 30, image: 0.07, call: 0.015 }' }
  expect(costOf(facts, { images: 2, outputTokens: 1 })).toBe(2n * 1_841_000_000n + 394_500_000n + 789_000n)
})

test('decimals are exact: no digit is lost, and only the sum is rounded', () => {
  // 0.1, 0.2 and the share have no exact binary representation.
  const facts = {
    cost: '{ from: 2026-01-01, input: 0.1, cached: 0.000001, output: 0.2 }',
    upstream: '    discount: { from: 2026-01-01, share: 0.0001 }\n',
    fx: 'fx: { from: 2026-01-01, vnd_per_usd: 26300.07 }',
  }
  // In units of 10⁻¹² µVND: an input token costs 0.1 × 0.0001 × 26,300.07 µVND, and so on.
  const exact = 333_333_333n * 263_000_700_000n + 7n * 2_630_007n + 77n * 526_001_400_000n
  const units = { inputTokens: 333_333_340, cachedInputTokens: 7, outputTokens: 77 }
  expect(costOf(facts, units)).toBe((exact + 500_000_000_000n) / 1_000_000_000_000n)
  expect(costOf(facts, { inputTokens: 1 })).toBe(0n)
  expect(costOf(facts, { inputTokens: 2 })).toBe(1n)
  expect(() => parseDecimal('1e-7', 6)).toThrow(RangeError)
  expect(() => parseDecimal('0.1234567', 6)).toThrow(RangeError)
  expect(parseDecimal('12.5', 6)).toBe(12_500_000n)
})

test('a call whose input exceeds the threshold of a tier is priced by that tier as a whole', () => {
  const facts = {
    cost: '{ from: 2026-01-01, input: 1, cached: 0.1, output: 2, tiers: [{ above_tokens: 1000, input: 10, output: 20 }, { above_tokens: 5000, input: 100, cached: 50, output: 200 }] }',
  }
  expect(costOf(facts, { inputTokens: 1000, outputTokens: 1 })).toBe(1002n * 26_300n)
  expect(costOf(facts, { inputTokens: 1001, cachedInputTokens: 1, outputTokens: 1 })).toBe((10_010n + 20n) * 26_300n)
  expect(costOf(facts, { inputTokens: 5001, cachedInputTokens: 5001, outputTokens: 1 })).toBe(
    (5001n * 50n + 200n) * 26_300n,
  )
})

test('price, discount and exchange rate are those in force at the time; later ones can be listed in advance', () => {
  const facts = {
    cost: '[{ from: 2026-02-01, input: 10, output: 10 }, { from: 2026-07-01, input: 4, output: 10 }]',
    upstream: '    discount: [{ from: 2026-01-01, share: 1 }, { from: 2026-05-01, share: 0.25 }]\n',
    fx: 'fx: [{ from: 2026-01-01, vnd_per_usd: 25000 }, { from: 2026-06-01, vnd_per_usd: 26000 }]',
  }
  const token = (at: string) => costOf(facts, { inputTokens: 1 }, at)
  expect(token('2026-01-31T23:59:59.999Z')).toBeNull()
  expect(token('2026-02-01')).toBe(250_000n)
  expect(token('2026-05-01')).toBe(62_500n)
  expect(token('2026-05-31T23:59:59.999Z')).toBe(62_500n)
  expect(token('2026-06-01')).toBe(65_000n)
  expect(token('2026-07-01')).toBe(26_000n)
  expect(token('2036-07-01')).toBe(26_000n)
})

test('before a discount takes effect, the full price is paid', () => {
  const facts = {
    cost: '{ from: 2026-01-01, input: 1, output: 1 }',
    upstream: '    discount: { from: 2026-07-01, share: 0.5 }\n',
  }
  expect(costOf(facts, { inputTokens: 1 }, '2026-06-30T23:59:59.999Z')).toBe(26_300n)
  expect(costOf(facts, { inputTokens: 1 }, '2026-07-01')).toBe(13_150n)
})

test('an upstream may have its own exchange rate', () => {
  const facts = {
    cost: '{ from: 2026-01-01, input: 1, output: 1 }',
    upstream: '    fx: { from: 2026-01-01, vnd_per_usd: 27000.5 }\n',
  }
  expect(costOf(facts, { inputTokens: 2 })).toBe(54_001n)
  expect(costOf({ ...facts, fx: '' }, { inputTokens: 2 })).toBe(54_001n)
})

test('a cost at the target replaces the entry’s as a whole, and the entry’s replaces the model’s', () => {
  const texts = costly({ cost: '{ from: 2026-01-01, input: 3, output: 3 }' }).map(source =>
    source.path.endsWith('beta.yaml')
      ? {
          ...source,
          text: source.text
            .replaceAll(
              '    capabilities',
              '    cost: { from: 2026-01-01, input: 1, cached: 0.5, output: 1 }\n    capabilities',
            )
            .replace(
              '{ via: south, model: beta-1 }',
              '{ via: south, model: beta-1, cost: { from: 2026-01-01, call: 2 } }',
            ),
        }
      : source,
  )
  const tables = tablesOf(texts)
  const costs = (id: string) => tables.entries.find(entry => entry.id === id)?.upstreams.map(({ cost }) => cost)
  expect(costs('beta-2')).toEqual([[{ from: '2026-01-01', input: '3', output: '3' }]])
  expect(costs('beta-1')).toEqual([
    [{ from: '2026-01-01', call: '2' }],
    [{ from: '2026-01-01', input: '1', cached: '0.5', output: '1' }],
  ])
  expect(costs('alpha-1')).toEqual([[]])
})

test('the cost of a call that is bought by the token is unknown if its tokens are', () => {
  const byToken = ratesOf({ cost: '{ from: 2026-01-01, input: 1, output: 1, call: 1 }' })
  const byCall = ratesOf({ cost: '{ from: 2026-01-01, call: 1 }' })
  expect(byToken && costIfReported(byToken, used({}))).toBeNull()
  expect(byToken && costIfReported(byToken, used({ outputTokens: 1 }))).toBe(26_300_026_300n)
  expect(byCall && costIfReported(byCall, used({}))).toBe(26_300_000_000n)
})

test('the cost of a call that is bought by the image is unknown if no image came', () => {
  const rates = ratesOf({ cost: '{ from: 2026-01-01, image: 0.07 }' })
  expect(rates && costIfReported(rates, used({}))).toBeNull()
  expect(rates && costIfReported(rates, used({ images: 1 }))).toBe(1_841_000_000n)
})

test('a price equal to its cost passes, one dong less causes a warning if the date is given, and so does a cost yet to begin', () => {
  // Tokens of every kind cost $0.10 (2,000 dong) per million.
  const texts = (vnd: number) =>
    costly({
      cost: '{ from: 2026-02-01, input: 0.1, output: 0.1 }',
      fx: 'fx: { from: 2026-01-01, vnd_per_usd: 20000 }',
    }).map(source => ({ ...source, text: source.text.replace('vnd: 2000,', `vnd: ${vnd},`) }))
  const codes = (vnd: number, today?: string) =>
    compiler.compile(texts(vnd), { lenient: false, ...(today && { today }) }).findings.map(({ code }) => code)
  expect(codes(2000, DAY)).toEqual([])
  expect(codes(1999, DAY)).toEqual(['below-cost'])
  expect(codes(1999, '2026-01-31')).toEqual(['cost-odd'])
  expect(codes(1999)).toEqual([])
})

test('a loss of less than a tenth of a percent is a loss', () => {
  const texts = costly({
    cost: '{ from: 2026-02-01, input: 0.3, output: 0.3 }',
    fx: 'fx: { from: 2026-01-01, vnd_per_usd: 20000 }',
  }).map(source => ({ ...source, text: source.text.replace('vnd: 2000,', 'vnd: 5999,') }))
  const { findings } = compiler.compile(texts, { lenient: false, today: DAY })
  expect(findings.map(({ message }) => message)).toEqual([
    '1 of 1 entries whose cost is known are sold below it: beta-2 (5999 VND per mtok, costs 6000)',
  ])
})

test('a retired entry is no longer sold, so it neither loses nor earns', () => {
  const texts = costly({ cost: '{ from: 2026-02-01, input: 50, output: 50 }' }).map(source => ({
    ...source,
    text: source.text.replace(
      '{ id: beta-2,',
      '{ id: beta-2, deprecated: { since: 2026-03-01, retires: 2026-06-01, successor: beta-1 },',
    ),
  }))
  const codes = (today: string) => compiler.compile(texts, { lenient: false, today }).findings.map(({ code }) => code)
  const listed = (today: string) => entryMargins(tablesOf(texts), today).map(({ id }) => id)
  expect(codes('2026-05-31')).toContain('below-cost')
  expect(listed('2026-05-31')).toContain('beta-2')
  expect(codes('2026-06-01')).not.toContain('below-cost')
  expect(listed('2026-06-01')).not.toContain('beta-2')
})

test('a warning about prices below cost does not stop generation', () => {
  const texts = costly({ cost: '{ from: 2026-02-01, input: 50, output: 50 }' })
  expect(compiler.compile(texts, { lenient: false, today: DAY }).tables).not.toBeNull()
})

test('prices have the margins at list price that were calculated independently', () => {
  const from = '2026-01-01'
  const tables = changedTables({
    settings: { fx: [{ from, vndPerUsd: '26300' }] },
    everyUpstream: { discount: [], fx: [] },
    costs: {
      'claude-opus-5': [{ from, input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' }],
      'gpt-5.5': [{ from, input: '5', cached: '0.5', output: '30' }],
      'deepseek-v4-flash': [{ from, input: '0.3', cached: '0.006', output: '1.2' }],
      'gpt-5.4': [{ from, input: '0.07', output: '0.3' }],
      'req/gpt-5.5': [{ from, input: '5', cached: '0.5', output: '30' }],
      'req/gpt-image-2': [{ from, image: '0.07' }],
      'req/gpt-4o-mini-tts': [{ from, call: '0.015' }],
    },
  })
  const margins = new Map(entryMargins(tables, '2026-11-22').map(margin => [margin.id, margin.mixes]))
  // For each of the mixes `agent`, `chat` and `no cache`: the cost in VND per 1M tokens, and the margin in percent of the price.
  const reckoned: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
    'claude-opus-5': [
      [98_888, -1421.4],
      [289_300, -4350.8],
      [184_100, -2732.3],
    ],
    'gpt-5.5': [
      [112_038, -4568.2],
      [328_750, -13_597.9],
      [197_250, -8118.8],
    ],
    'deepseek-v4-flash': [
      [4690, -212.7],
      [14_991, -899.4],
      [10_257, -583.8],
    ],
    // Without a price for cache reads.
    'gpt-5.4': [
      [2446, -1.9],
      [3656, -52.3],
      [2446, -1.9],
    ],
    // The entries below are priced per call (of 30,000 tokens), per image or per minute of speech.
    'req/gpt-5.5': [[2288, -154.2]],
    'req/gpt-image-2': [[1841, -183.2]],
    'req/gpt-4o-mini-tts': [[394.5, 70.8]],
  }
  for (const [id, expected] of Object.entries(reckoned)) {
    const found = margins.get(id) ?? []
    expect(found, id).toHaveLength(expected.length)
    for (const [index, [costVnd, percent]] of expected.entries()) {
      const { costMicroVnd = 0n, marginPercent = Number.NaN } = found[index] ?? {}
      // The expected figures are rounded: costs to a dong, margins to a tenth of a percent.
      expect(Math.abs(Number(costMicroVnd) / 1e6 - costVnd), id).toBeLessThanOrEqual(0.5)
      expect(Math.abs(marginPercent - percent), id).toBeLessThan(0.11)
    }
  }
})
