/** Conversations of tens of thousands of calls, more than any agent makes, take time in proportion to their length. */

import { expect, test } from 'vitest'
import { UpstreamIds } from '../../src/conversation/names.ts'
import { pairResults } from '../../src/conversation/pairing.ts'
import type { CallPart, ResultPart, Turn } from '../../src/conversation/request.ts'
import { responsesErrors } from '../../src/formats/responses/read-turns.ts'

const MANY = 50_000
const numbers = Array.from({ length: MANY }, (_, index) => index)

function call(id: string, name = 'f'): CallPart {
  return { kind: 'call', id, name, input: {}, signature: null }
}

function result(id: string, name = ''): ResultPart {
  return { kind: 'result', id, name, content: [{ kind: 'text', text: id }], isError: false, place: '' }
}

function pairs(calls: readonly CallPart[], results: readonly ResultPart[]): (readonly [ResultPart, CallPart])[] {
  const turns: Turn[] = [
    { role: 'assistant', parts: calls, place: '' },
    { role: 'user', parts: results, place: '' },
  ]
  return [...(pairResults(turns, responsesErrors)[1]?.answers ?? [])]
}

test('results in the opposite order find their calls', () => {
  const calls = numbers.map(index => call(`c${index}`))
  const found = pairs(
    calls,
    numbers.map(index => result(`c${MANY - 1 - index}`)),
  )
  expect(found.length).toBe(MANY)
  expect(found.every(([{ id }, answered]) => answered.id === id)).toBe(true)
})

test('results without ids find their calls by name, or in order', () => {
  const calls = numbers.map(index => call('', index % 2 === 0 ? 'even' : 'odd'))
  const named = pairs(
    calls,
    numbers.map(index => result('', index < MANY / 2 ? 'odd' : 'even')),
  )
  expect(named.every(([{ name }, answered]) => answered.name === name)).toBe(true)
  const unnamed = pairs(
    calls,
    numbers.map(() => result('')),
  )
  expect(unnamed.map(([, answered]) => answered)).toEqual(calls)
})

test('different results of one call are joined in their order', () => {
  const texts = numbers.map(index => ({ kind: 'text', text: String(index) }) as const)
  const [found] = pairs(
    [call('c')],
    texts.map(text => ({ ...result('c'), content: [text] })),
  )
  expect(found?.[0].content).toEqual(texts)
})

test.each([
  ['the same id', () => 'c'],
  ['different ids that become the same', (index: number) => String.fromCharCode(0x4e00 + (index % 20_000))],
])('calls with %s get ids of their own, which stay the same', (_, idOf) => {
  const calls = numbers.map(index => call(idOf(index)))
  const [once, again] = [new UpstreamIds('word'), new UpstreamIds('word')]
  const ids = calls.map(each => once.of(each))
  expect(new Set(ids).size).toBe(MANY)
  expect(calls.slice(0, 100).map(each => again.of(each))).toEqual(ids.slice(0, 100))
})
