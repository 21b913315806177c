/** Tool calls with interleaved arguments: the work grows linearly with the length of the stream. */

import { expect, test } from 'vitest'
import { call, FINISH, fn } from './fixtures/chat-streams.ts'
import { strictMessage } from './grammar.ts'
import { chatEvents, contextOf, drain, messagesViaChat } from './support.ts'

const REQUEST = { max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'hi' }] }

function convert(chunks: readonly (object | string)[]): string {
  return drain(messagesViaChat(REQUEST, contextOf({ upstream: 'chat_completions' })).stream(), chatEvents(...chunks))
}

type Method = (this: { readonly length: number }, ...parameters: unknown[]) => unknown

/**
 * Measures the work done during `run`: the number of characters and list items that string, list and JSON functions process.
 */
function workOf(run: () => void): number {
  let work = 0
  const restores: (() => void)[] = []
  const count = (holder: object, name: string, weigh: (self: { length: number }, first: unknown) => number) => {
    const original = Reflect.get(holder, name) as Method
    const counted: Method = function (...parameters) {
      work += weigh(this, parameters[0])
      return original.apply(this, parameters)
    }
    Reflect.set(holder, name, counted)
    restores.push(() => Reflect.set(holder, name, original))
  }
  count(JSON, 'parse', (_self, text) => String(text).length)
  for (const name of ['charCodeAt', 'charAt', 'codePointAt']) count(String.prototype, name, () => 1)
  for (const name of ['trim', 'trimStart', 'trimEnd', 'replace', 'match', 'search', 'split'])
    count(String.prototype, name, self => self.length)
  for (const name of ['includes', 'indexOf', 'find', 'findIndex', 'findLast', 'filter', 'shift', 'slice', 'some'])
    count(Array.prototype, name, self => self.length)
  try {
    run()
  } finally {
    for (const restore of restores) restore()
  }
  return work
}

/** Two tool calls with alternating chunks. Many chunks of the arguments end in `}`, as complete arguments would. */
function twoCalls(items: number) {
  const text = JSON.stringify({ list: Array.from({ length: items }, (_, at) => ({ at, text: '"}{\\' })) })
  const pieces = text.match(/.{1,5}/gs) ?? []
  return {
    value: JSON.parse(text) as object,
    chunks: [
      ...['a', 'b'].map((id, index) => call({ index, id, function: fn(id, '') })),
      ...pieces.flatMap(piece => [0, 1].map(index => call({ index, function: { arguments: piece } }))),
      FINISH,
      '[DONE]',
    ],
  }
}

/** Many tool calls that start together, are identified only by id, and end one after another. */
function manyCalls(count: number) {
  const ids = Array.from({ length: count }, (_, at) => `call_${at}`)
  return [
    ...ids.map(id => call({ id, function: fn('f', '{"x":') })),
    ...ids.map(id => call({ id, function: { arguments: '1}' } })),
    FINISH,
    '[DONE]',
  ]
}

test('interleaved calls keep their arguments', () => {
  const { value, chunks } = twoCalls(20)
  expect(strictMessage(convert(chunks))).toMatchObject({
    content: [
      { type: 'tool_use', id: 'a', name: 'a', input: value },
      { type: 'tool_use', id: 'b', name: 'b', input: value },
    ],
  })
  const many = strictMessage(convert(manyCalls(50))) as { content: object[] }
  expect(many.content).toEqual(
    Array.from({ length: 50 }, (_, at) => ({ type: 'tool_use', id: `call_${at}`, name: 'f', input: { x: 1 } })),
  )
})

test.each<[string, (size: number) => readonly (object | string)[], number]>([
  ['the length of two interleaved calls', size => twoCalls(size).chunks, 150],
  ['the number of interleaved calls', manyCalls, 300],
])('the work grows in step with %s', (_name, make, size) => {
  const [once, fourfold] = [size, size * 4].map(items => {
    const chunks = make(items)
    return workOf(() => void convert(chunks))
  }) as [number, number]
  expect(once).toBeGreaterThan(1_000)
  expect(fourfold / once).toBeLessThan(5)
})
