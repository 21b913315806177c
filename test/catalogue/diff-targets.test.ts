/** How a diff compares the targets of an entry, and their wires, when some are added, replaced, reordered or removed. */

import { expect, test } from 'vitest'
import { diffOf, edited, tablesOf } from './diff-support.ts'

const SOUTH = '{ via: south, model: beta-2 }'
const NORTH = '{ via: north, model: beta-2, standard: messages, dialect: { sampling: { stop_max: 2 } } }'
const ROUTE = 'south: beta-2 (chat_completions)'
const OTHER = 'north: beta-2 (messages)'

function served(targets: string, wires = '') {
  return tablesOf(edited('families/beta.yaml', [`upstream: ${SOUTH}`, `${wires}upstream: ${targets}`]))
}

const one = served(SOUTH)
const two = served(`[${SOUTH}, ${NORTH}]`)

test('an added target shows how the calls that it gets will fare differently, and nothing else', () => {
  const names = ['beta-2']
  expect(diffOf(two, [], one)).toMatchObject({
    facts: [
      { what: 'dialect.sampling.stop_max (target 2)', old: '4', new: '2', names },
      { what: 'upstream', old: ROUTE, new: `${ROUTE}, ${OTHER}`, names },
    ],
    extras: [],
  })
})

test('a removed target, or another order, changes no fact of the targets that stay', () => {
  for (const targets of [SOUTH, NORTH, `[${NORTH}, ${SOUTH}]`]) {
    expect(diffOf(served(targets), [], two).facts.map(({ what }) => what)).toEqual(['upstream'])
  }
})

test('a replaced target is compared with the one in whose place it stands', () => {
  const what = (targets: string, before: typeof one) => diffOf(served(targets), [], before).facts.map(each => each.what)
  expect(what(NORTH, one)).toEqual(['dialect.sampling.stop_max', 'upstream'])
  const moved = NORTH.replace('model: beta-2', 'model: beta-2-eu')
  expect(what(`[${SOUTH}, ${moved}]`, two)).toEqual(['upstream'])
})

test('a changed list of wires is shown, and so is a word of one of them', () => {
  const wires = (word: string) =>
    `wires: [{ wire: chat_completions }, { wire: responses, cannot: [top_k], dialect: { reasoning: { field: ${word} } } }], `
  const names = ['beta-2']
  const both = 'chat_completions, responses (cannot: top_k)'
  expect(diffOf(served(SOUTH, wires('item_content')), [], one).facts).toEqual([
    { what: 'wires', old: '–', new: both, names },
    { what: 'wires.responses.dialect.reasoning.field', old: 'reasoning_content', new: 'item_content', names },
  ])
  const before = served(SOUTH, wires('reasoning_content'))
  expect(diffOf(served(SOUTH, wires('item_content')), [], before).facts).toEqual([
    { what: 'wires.responses.dialect.reasoning.field', old: 'reasoning_content', new: 'item_content', names },
  ])
})

test('a word of the family that every wire takes over is shown once', () => {
  const family = (stops: number) =>
    tablesOf(
      edited(
        'families/beta.yaml',
        ['max_completion_tokens }', `max_completion_tokens }\n  sampling: { stop_max: ${stops} }`],
        [
          'capabilities: [tools, streaming]',
          'capabilities: [tools, streaming]\n    wires: [{ wire: chat_completions }, { wire: responses }]',
        ],
      ),
    )
  expect(diffOf(family(2), [], family(3)).facts.map(each => each.what)).toEqual([
    'dialect.sampling.stop_max',
    'dialect.sampling.stop_max (target 1)',
    'dialect.sampling.stop_max (target 2)',
  ])
})
