/** The six operations that rules can apply to upstream bodies. */

import { expect, test } from 'vitest'
import { applyRules } from '../../src/dialect/rules.ts'
import type { Endpoint, Rule } from '../../src/generated/types.ts'
import type { JsonObject } from '../../src/translate/translator.ts'

/** Applies rules to a JSON text and returns the result as JSON text, because that also shows keys such as `__proto__`. */
function applied(body: string, rules: readonly Rule[], endpoint: Endpoint = 'chat_completions'): string {
  const parsed = JSON.parse(body) as JsonObject
  return JSON.stringify(applyRules(parsed, rules, endpoint))
}

test.each<[string, Rule, string, string]>([
  ['set replaces', { op: 'set', path: '/a', value: 1 }, '{"a":0,"b":2}', '{"a":1,"b":2}'],
  ['set adds', { op: 'set', path: '/a', value: null }, '{}', '{"a":null}'],
  ['set makes parents', { op: 'set', path: '/a/b/c', value: [1] }, '{}', '{"a":{"b":{"c":[1]}}}'],
  ['set leaves what is not a container', { op: 'set', path: '/a/b', value: 1 }, '{"a":"text"}', '{"a":"text"}'],
  [
    'set reaches all members',
    { op: 'set', path: '/m/*/x', value: 1 },
    '{"m":[{},{"x":0},"s"]}',
    '{"m":[{"x":1},{"x":1},"s"]}',
  ],
  ['set makes nothing above a star', { op: 'set', path: '/m/*/x', value: 1 }, '{"n":1}', '{"n":1}'],
  ['set appends with -', { op: 'set', path: '/m/-', value: 3 }, '{"m":[1,2]}', '{"m":[1,2,3]}'],
  ['set leaves an index beyond the end', { op: 'set', path: '/m/7', value: 3 }, '{"m":[1]}', '{"m":[1]}'],
  ['default writes what is absent', { op: 'default', path: '/a', value: 1 }, '{}', '{"a":1}'],
  ['default leaves what is there, even null', { op: 'default', path: '/a', value: 1 }, '{"a":null}', '{"a":null}'],
  ['drop removes', { op: 'drop', path: '/a' }, '{"a":1,"b":2}', '{"b":2}'],
  ['drop leaves what is absent', { op: 'drop', path: '/a/b/c' }, '{"a":{}}', '{"a":{}}'],
  [
    'drop removes from all members',
    { op: 'drop', path: '/m/*/name' },
    '{"m":[{"name":1},{"n":2}]}',
    '{"m":[{},{"n":2}]}',
  ],
  ['drop empties a list', { op: 'drop', path: '/m/*' }, '{"m":[1,2,3]}', '{"m":[]}'],
  ['drop removes one index', { op: 'drop', path: '/m/1' }, '{"m":[1,2,3]}', '{"m":[1,3]}'],
  ['move renames', { op: 'move', from: '/a', to: '/b' }, '{"a":{"x":1},"b":0}', '{"b":{"x":1}}'],
  ['move makes parents', { op: 'move', from: '/a', to: '/x/y' }, '{"a":1}', '{"x":{"y":1}}'],
  ['move below itself', { op: 'move', from: '/a', to: '/a/b' }, '{"a":1}', '{"a":{"b":1}}'],
  ['move leaves what is absent', { op: 'move', from: '/a', to: '/b' }, '{"b":0}', '{"b":0}'],
  [
    'move treats each member separately',
    { op: 'move', from: '/m/*/a', to: '/m/*/b' },
    '{"m":[{"a":1},{},{"a":3}]}',
    '{"m":[{"b":1},{},{"b":3}]}',
  ],
  ['clamp lowers', { op: 'clamp', path: '/t', max: 1 }, '{"t":1.5}', '{"t":1}'],
  ['clamp raises', { op: 'clamp', path: '/t', min: 0, max: 1 }, '{"t":-2}', '{"t":0}'],
  ['clamp leaves what is within', { op: 'clamp', path: '/t', min: 0, max: 1 }, '{"t":0.3}', '{"t":0.3}'],
  ['clamp leaves what is not a number', { op: 'clamp', path: '/t', max: 1 }, '{"t":"9"}', '{"t":"9"}'],
  ['map replaces', { op: 'map', path: '/e', values: { minimal: 'low' } }, '{"e":"minimal"}', '{"e":"low"}'],
  [
    'map matches numbers and booleans by their text',
    { op: 'map', path: '/*', values: { true: 'on', 2: 3 } },
    '{"a":true,"b":2}',
    '{"a":"on","b":3}',
  ],
  ['map leaves other values', { op: 'map', path: '/e', values: { a: 'b' } }, '{"e":"toString"}', '{"e":"toString"}'],
  ['pointers are unescaped', { op: 'drop', path: '/a~1b/c~0d' }, '{"a/b":{"c~d":1,"e":2}}', '{"a/b":{"e":2}}'],
])('%s', (_promise, rule, body, expected) => {
  expect(applied(body, [rule])).toBe(expected)
})

test('rules run in order, each on the result of the one before', () => {
  const rules: Rule[] = [
    { op: 'move', from: '/a', to: '/b' },
    { op: 'map', path: '/b', values: { x: 5 } },
    { op: 'clamp', path: '/b', max: 3 },
  ]
  expect(applied('{"a":"x"}', rules)).toBe('{"b":3}')
})

test.each<[string, NonNullable<Rule['when']>, string, boolean]>([
  ['exists finds it', { path: '/a/b', exists: true }, '{"a":{"b":null}}', true],
  ['exists misses it', { path: '/a/b', exists: true }, '{"a":{}}', false],
  ['exists: false requires absence', { path: '/a', exists: false }, '{}', true],
  ['equals compares', { path: '/a', equals: 'x' }, '{"a":"x"}', true],
  ['equals distinguishes text from numbers', { path: '/a', equals: '1' }, '{"a":1}', false],
  ['equals: null requires a null', { path: '/a', equals: null }, '{"a":null}', true],
  ['equals: null is not met by absence', { path: '/a', equals: null }, '{}', false],
  ['one_of takes any', { path: '/a', one_of: [1, 'x'] }, '{"a":"x"}', true],
  [
    'a star is met by one member',
    { path: '/m/*/role', equals: 'tool' },
    '{"m":[{"role":"user"},{"role":"tool"}]}',
    true,
  ],
])('when: %s', (_promise, when, body, runs) => {
  const result = JSON.parse(applied(body, [{ op: 'set', path: '/done', value: true, when }]))
  expect(Object.hasOwn(result, 'done')).toBe(runs)
})

test('`endpoints` confines a rule to the bodies of those endpoints', () => {
  const rules: Rule[] = [{ op: 'drop', path: '/a', endpoints: ['responses'] }]
  expect(applied('{"a":1}', rules, 'chat_completions')).toBe('{"a":1}')
  expect(applied('{"a":1}', rules, 'responses')).toBe('{}')
})

test('keys like __proto__ are data: carried, written, moved and dropped, never merged', () => {
  const body = '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}'
  expect(applied(body, [{ op: 'set', path: '/x', value: 1 }])).toBe(`${body.slice(0, -1)},"x":1}`)
  expect(applied(body, [{ op: 'drop', path: '/__proto__/polluted' }])).toBe(
    '{"__proto__":{},"constructor":{"prototype":2}}',
  )
  expect(applied('{}', [{ op: 'set', path: '/__proto__/polluted', value: 1 }])).toBe('{"__proto__":{"polluted":1}}')
  expect(applied('{"a":{"polluted":1}}', [{ op: 'move', from: '/a', to: '/__proto__' }])).toBe(
    '{"__proto__":{"polluted":1}}',
  )
  expect(applied('{}', [{ op: 'drop', path: '/__proto__/toString' }])).toBe('{}')
  expect(applied('{"a":"__proto__"}', [{ op: 'map', path: '/a', values: { b: 1 } }])).toBe('{"a":"__proto__"}')
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  expect(typeof Object.prototype.toString).toBe('function')
})

test('a body never contains an object of the tables', () => {
  const rule: Rule = { op: 'set', path: '/a', value: { list: [1] } }
  const body = applyRules({}, [rule], 'messages')
  const written = body.a as { list: number[] }
  written.list.push(2)
  expect(rule.value).toEqual({ list: [1] })
})

test('the given body stays as it is, and the new one shares with it what no rule changes', () => {
  const body: JsonObject = { tools: [{ name: 'a', x: 1 }, { name: 'b' }], messages: [{ role: 'user' }], n: 1 }
  const text = JSON.stringify(body)
  const rules: Rule[] = [
    { op: 'drop', path: '/tools/*/x' },
    { op: 'move', from: '/messages', to: '/input' },
    { op: 'set', path: '/input/0/role', value: 'system' },
    { op: 'default', path: '/reasoning/effort', value: 'low' },
  ]
  const changed = applyRules(body, rules, 'messages')
  expect(JSON.stringify(changed)).toBe(
    '{"tools":[{"name":"a"},{"name":"b"}],"n":1,"input":[{"role":"system"}],"reasoning":{"effort":"low"}}',
  )
  expect(JSON.stringify(body)).toBe(text)
  expect((changed.tools as JsonObject[])[1]).toBe((body.tools as JsonObject[])[1])
  expect(applyRules(body, [{ op: 'drop', path: '/tools/*/y' }], 'messages')).toBe(body)
})
