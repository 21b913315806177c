/** Page texts: none is missing or unused, and figures are formatted as people write them. */

import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Form } from '../../src/dashboard/form.ts'
import { localPath, splitTarget } from '../../src/dashboard/guard.ts'
import { chartOf, daySlots } from '../../src/dashboard/money/chart.ts'
import { TEXTS, text } from '../../src/dashboard/texts/index.ts'
import { REFERENCE_IN_VIETNAMESE } from '../../src/dashboard/texts/reference.ts'
import {
  chartFigure,
  compactCount,
  count,
  date,
  day,
  dong,
  dongOfMicro,
  dongRough,
  dongWhole,
  duration,
  time,
} from '../../src/dashboard/view/format.ts'
import { ERRORS } from '../../src/errors.ts'
import { API_ROUTES } from '../../src/http/endpoints.ts'
import { SCHEMAS, type Schema } from '../../src/http/openapi/schemas.ts'
import { microVnd } from '../../src/lib/money.ts'

const ROOT = new URL('../../src/dashboard/', import.meta.url).pathname
const source = globSync(['**/*.ts', 'templates/**/*.hbs'], { cwd: ROOT })
  .filter(file => !file.startsWith('texts/'))
  .map(file => readFileSync(ROOT + file, 'utf8'))
  .join('\n')

test('every text exists in both languages, with the same placeholders', () => {
  const values = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map(match => match[1]).sort()
  for (const [key, { vi, en }] of Object.entries(TEXTS)) {
    expect([key, vi.trim() !== '' && en.trim() !== '']).toEqual([key, true])
    expect([key, values(vi)]).toEqual([key, values(en)])
  }
})

test('every text that a template names exists', () => {
  const named = [...source.matchAll(/\(?\bt "([^"]+)"/g)].map(match => match[1] as string)
  expect(named.length).toBeGreaterThan(200)
  expect([...new Set(named)].filter(key => !(key in TEXTS))).toEqual([])
})

/** Errors that leave no usage row: the account is not known yet, or the request is not a call. */
const WITHOUT_ROW = new Set([
  ...['authentication_failed', 'key_disabled', 'key_expired', 'notification_refused', 'notification_unreadable'],
  ...['route_not_found', 'response_not_found', 'unknown_model', 'method_not_allowed', 'upgrade_refused'],
  ...['headers_too_large', 'foreign_page'],
])

test('every error that a call can end with is explained, with what to do about it', () => {
  const codes = ['client_gone', ...Object.keys(ERRORS).filter(code => !WITHOUT_ROW.has(code))]
  const wanted = codes.flatMap(code => [`usage.reason.${code}`, `usage.cure.${code}`])
  const there = Object.keys(TEXTS).filter(key => /^usage\.(reason|cure)\./.test(key))
  expect(there.sort()).toEqual(wanted.sort())
})

test('every text is used somewhere', () => {
  // Patterns of text keys with placeholders, such as `problem.${status}.title`.
  const patterns = [...source.matchAll(/`([a-z_]+\.(?:[\w.]|\$\{[^}]+\})*\$\{(?:[\w.]|[^`])*)`/g)].map(match => {
    const literal = (match[1] as string).replace(/\$\{[^}]+\}/g, '*').replace(/[.?]/g, '\\$&')
    return new RegExp(`^${literal.replaceAll('*', '[\\w-]+')}$`)
  })
  const unused = Object.keys(TEXTS).filter(
    key => !source.includes(`"${key}"`) && !source.includes(`'${key}'`) && !patterns.some(pattern => pattern.test(key)),
  )
  expect(unused).toEqual([])
})

test('the reference has every sentence of the API description in Vietnamese too, and no others', () => {
  const shown = API_ROUTES.flatMap(({ operation }) => {
    if (operation === undefined) return []
    const { summary, description, request } = operation
    const { properties = {} } = request === null ? {} : (SCHEMAS[request] as { properties: Record<string, Schema> })
    return [summary, description, ...Object.values(properties).map(field => String(field.description))]
  })
  const answers = ['The reply, which is charged.', 'The reply, which is free.']
  expect(Object.keys(REFERENCE_IN_VIETNAMESE).sort()).toEqual([...new Set([...shown, ...answers])].sort())
})

test('nouns agree with their count, and a text that misses a value throws instead of leaving a gap', () => {
  const calls = ['0', 1, 3, '1.000'].map(count => text('en', 'overview.calls', { count }))
  expect(calls).toEqual(['0 calls', '1 call', '3 calls', '1.000 calls'])
  expect(text('vi', 'overview.calls', { count: 1 })).toBe('1 lượt gọi')
  expect(() => text('en', 'overview.calls')).toThrow('the text overview.calls needs count')
})

test('amounts have dots between thousands and a comma before fractions', () => {
  const plain = (amount: string) => amount.replaceAll('\u00a0', ' ')
  expect(plain(dong(50_000))).toBe('50.000 ₫')
  expect(plain(dong(1_234_567n))).toBe('1.234.567 ₫')
  expect(plain(dongOfMicro(microVnd(1_680_000n)))).toBe('1,68 ₫')
  expect(plain(dongOfMicro(microVnd(1_234_567_000_001n)))).toBe('1.234.567,000001 ₫')
  expect(plain(dongOfMicro(microVnd(-20_000_500_000n)))).toBe('-20.000,5 ₫')
  expect(plain(dongWhole(microVnd(999_999_999n)))).toBe('999 ₫')
  expect(plain(dongWhole(microVnd(-500_000n)))).toBe('0 ₫')
  expect(plain(dongRough(microVnd(999_500_000n)))).toBe('999,5 ₫')
  expect(plain(dongRough(microVnd(1_000_500_000n)))).toBe('1.000 ₫')
})

test('a chart’s legend names only series with a figure', () => {
  const point = (series: string, value: number) => ({ at: '2026-11-21', series, value })
  const { series } = chartOf([point('charged', 12), point('refused', 0)], {
    titleKey: 'usage.chart.cost.day',
    slotKey: 'usage.day',
    slots: daySlots({ from: '2026-11-20', to: '2026-11-21' }, () => null),
    unit: '₫',
    labelOf: name => name,
    other: 'Other',
  })
  expect(series).toEqual([{ series: 1, label: 'charged', total: '12\u00a0₫' }])
})

test('counts, durations and times are written like amounts', () => {
  expect([compactCount(1_000_000), compactCount(1_050_000), compactCount(128_000), compactCount(900)]).toEqual([
    '1M',
    '1,05M',
    '128K',
    '900',
  ])
  expect([count(999), count(1_234_567n)]).toEqual(['999', '1.234.567'])
  expect([duration(1250), duration(340)]).toEqual(['1,3\u00a0s', '340\u00a0ms'])
  expect(time(new Date('2026-11-20T17:05:09Z'))).toBe('21/11/2026 00:05:09')
  expect([date(new Date('2026-11-20T17:05:09Z')), day('2026-11-05')]).toEqual(['21/11/2026', '05/11/2026'])
  const charted = [60_696.98, 9.087, 999.999, 12, 0.01, 0.0033].map(value => chartFigure(value, ''))
  expect(charted).toEqual(['60.696', '9,09', '1.000', '12', '0,01', '0,0033'])
  expect(chartFigure(519.545, '₫')).toBe('519,54\u00a0₫')
})

test('form fields are trimmed, truncated and freed of control characters', () => {
  const form = new Form(new URLSearchParams({ a: '  x\u0000y\n ', b: 'z'.repeat(500), as: '__proto__' }))
  expect([form.text('a'), form.text('b').length, form.text('missing')]).toEqual(['xy', 200, ''])
  expect(form.choice('as', ['one'])).toBeNull()
  expect(form.with({ a: null, b: null, as: '' })).toBe('')
})

test('a query has at most fifty fields; further ones are dropped', () => {
  const fields = Array.from({ length: 51 }, (_, index) => `f${index}=${index}`)
  expect(splitTarget(`/models?${fields.slice(0, 50).join('&')}`).query).toBe(fields.slice(0, 50).join('&'))
  expect(splitTarget(`//models?${fields.join('&')}`)).toEqual({ path: '/models', query: fields.slice(0, 50).join('&') })
  expect(splitTarget('/models')).toEqual({ path: '/models', query: '' })
})

test('after signing in, people are sent only to our own paths', () => {
  expect(localPath('/usage?key=1')).toBe('/usage?key=1')
  for (const path of ['//x', '/\\x', 'x', 'http://x', '/a\\b', '/a b', '/\u00e9'])
    expect(localPath(path)).toBe('/overview')
})
