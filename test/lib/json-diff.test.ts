import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText, encodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { editsBetween } from '../../src/lib/json-diff.ts'
import { editJson } from '../../src/lib/json-text.ts'

test('names the deepest places that differ', () => {
  const before = { a: 1, list: [{ x: 1, y: 2 }, 3], gone: true, same: { deep: [1, 2] } }
  const after = { a: 1, list: [{ x: 1, y: 5 }, 3], same: { deep: [1, 2] }, 'new/~': null }
  expect(editsBetween(before, after)).toEqual([
    { op: 'remove', path: '/gone' },
    { op: 'set', path: '/list/0/y', value: 5 },
    { op: 'set', path: '/new~1~0', value: null },
  ])
})

test('below a very long key is replaced as a whole: each edit would repeat the key', () => {
  const parameters = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { a: index }]))
  const typed = Object.fromEntries(Object.keys(parameters).map(name => [name, { a: 1, type: 'string' }]))
  const [before, after] = [{ ['k'.repeat(5_000)]: { parameters } }, { ['k'.repeat(5_000)]: { parameters: typed } }]
  const edits = editsBetween(before, after)
  expect(edits.map(({ op }) => op)).toEqual(['set'])
  const text = encodeText(JSON.stringify(before))
  expect(JSON.parse(decodeText(editJson(text, edits)))).toEqual(after)
  const deep = (value: JsonObject) =>
    Array.from({ length: 60 }, () => 'k'.repeat(500)).reduce<JsonObject>((inner, key) => ({ [key]: inner }), value)
  expect(editsBetween(deep(parameters), deep(typed)).map(({ op }) => op)).toEqual(['set'])
})

test('an object with a new member of a very long name is replaced as a whole: its pointer would take seconds to write', () => {
  const name = '/'.repeat(5_000)
  const before = { tool: { required: [name], properties: { a: {} } } }
  const after = { tool: { required: [name], properties: { a: { type: 'string' }, [name]: {} } } }
  const edits = editsBetween(before, after)
  expect(edits.map(({ op, path }) => [op, path])).toEqual([['set', '/tool/properties']])
  expect(JSON.parse(decodeText(editJson(encodeText(JSON.stringify(before)), edits)))).toEqual(after)
})

test('the edits turn the text of one value into the other', () => {
  const key = fc.constantFrom('a', 'b/', '~', '__proto__', 'tiếng')
  const value = fc.letrec(tie => ({
    any: fc.oneof({ depthSize: 'small' }, fc.integer(), fc.string(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 3 }),
    object: fc.dictionary(key, tie('any'), { maxKeys: 4 }),
  })).object
  fc.assert(
    fc.property(value, value, (one, other) => {
      const parse = (text: string) => JSON.parse(text) as JsonObject
      const [before, after] = [parse(JSON.stringify(one)), parse(JSON.stringify(other))]
      const text = encodeText(JSON.stringify(one))
      const edited = decodeText(editJson(text, editsBetween(before, after)))
      expect(Object.entries(JSON.parse(edited)).sort()).toEqual(Object.entries(after).sort())
      // Values that occur in both lists are recognised even if their position has changed.
      const held: JsonObject = { list: [before, 1, after, {}] }
      const moved: JsonObject = { list: [{ new: after }, after, before] }
      const told = editJson(encodeText(JSON.stringify(held)), editsBetween(held, moved))
      expect(JSON.parse(decodeText(told))).toEqual(parse(JSON.stringify(moved)))
    }),
  )
})

test('a list whose length changes is rewritten, and its remaining elements keep their bytes', () => {
  const text = '{ "list": [ {"a" : 1e2, "b": [1.50, 2]}, {"x": 12345678901234567890 } ,"y" ] }'
  const before = JSON.parse(text) as { list: JsonObject[] }
  const [first, second, third] = before.list as [JsonObject, JsonObject, JsonObject]
  const sent = (...list: unknown[]) =>
    decodeText(editJson(encodeText(text), editsBetween(before as never, { list } as never)))
  expect(sent(second, first)).toBe('{ "list": [{"x": 12345678901234567890 },{"a" : 1e2, "b": [1.50, 2]}] }')
  expect(sent(second)).toBe('{ "list": [{"x": 12345678901234567890 }] }')
  expect(sent('new', first, second, third)).toBe(
    '{ "list": ["new",{"a" : 1e2, "b": [1.50, 2]},{"x": 12345678901234567890 },"y"] }',
  )
  // The first element has changed, but the one after it has not. So the first is edited in place, and its other members are
  // left byte for byte as they were.
  expect(sent({ ...first, b: [(first.b as number[])[0]] }, second)).toBe(
    '{ "list": [{"a" : 1e2, "b": [1.5]},{"x": 12345678901234567890 }] }',
  )
})

test('changes of thousands of elements of a list are a single edit, which keeps the bytes of all others', () => {
  const image = '{ "type": "image_url", "image_url": { "url": "x" } }'
  const text = `{"content":[${`{"type" : "text", "n": 1.50},${image},{"type": "text", "m": [1.50, 2]},`.repeat(1000)}7]}`
  const before = JSON.parse(text) as { content: JsonObject[] }
  const changed = (part: JsonObject): JsonObject => {
    if (part.type === 'image_url') return { type: 'text', text: 'ảnh' }
    return part.m === undefined ? part : { ...part, cache: null }
  }
  const edits = editsBetween(before as never, { content: before.content.map(changed) } as never)
  expect(edits.map(({ op, path }) => `${op} ${path}`)).toEqual(['arrange /content'])
  const edited = decodeText(editJson(encodeText(text), edits))
  const parts =
    '{"type" : "text", "n": 1.50},{"type":"text","text":"ảnh"},{"cache":null,"type": "text", "m": [1.50, 2]},'
  expect(edited.replaceAll('\\u1ea3', 'ả')).toBe(`{"content":[${parts.repeat(1000)}7]}`)
})
