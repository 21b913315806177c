/** Neighbouring turns of one role become one turn. */

import { expect, test } from 'vitest'
import { joined, merged } from '../../src/dialect/joining.ts'
import type { JsonValue } from '../../src/lib/json.ts'

const part = (text: string) => ({ type: 'text', text })

test.each<[JsonValue[], JsonValue]>([
  [['a', 'b', '', 'c'], 'a\n\nb\n\nc'],
  [
    ['a', 'b', [part('c')], 'd', null],
    [part('a\n\nb'), part('c'), part('d')],
  ],
  [[null, 'a'], [part('a')]],
  [
    [[part('a')], [part('b')]],
    [part('a'), part('b')],
  ],
])('contents %j become %j', (contents, content) => {
  const messages = contents.map((each, index) => ({ role: 'user', content: each, name: `n${index}` }))
  expect(joined(messages)).toEqual({ role: 'user', content, name: `n${contents.length - 1}` })
})

test('only turns that may grow are merged', () => {
  const turns = [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b', last: true },
    { role: 'user', content: 'c' },
    { role: 'assistant', content: 'd' },
  ]
  expect(merged(turns, ({ last }) => last === undefined)).toEqual([
    { role: 'user', content: 'a\n\nb', last: true },
    turns[2],
    turns[3],
  ])
  const alone = [turns[0]!, turns[3]!]
  expect(merged(alone, () => true)).toBe(alone)
})

test('20,000 turns are put together at once', () => {
  const turns = Array.from({ length: 20_000 }, (_, index) => {
    return { role: 'user', content: 'x'.repeat(998), [`n${index}`]: null }
  })
  const [turn, ...others] = merged(turns, () => true) as [{ content: string }]
  expect([turn.content.length, Object.keys(turn).length, others]).toEqual([20_000 * 1_000 - 2, 20_002, []])
})
