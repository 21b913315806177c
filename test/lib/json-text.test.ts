import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { ascii, characters, decodeText, encodeText, joinBytes, parseUndecoded } from '../../src/lib/byte-text.ts'
import type { BodyEdit } from '../../src/lib/edit-tree.ts'
import { editMembers } from '../../src/lib/json-members.ts'
import { editJson, hasDuplicates, membersOf, withoutDuplicates } from '../../src/lib/json-text.ts'

test('replaces one value and leaves every other byte unchanged', () => {
  const body = encodeText(
    '{ "a" : 12345678901234567890,\n "model":"x\\"y" , "__proto__": {"k":[1, {"model":"in"}]}, "ẹ":"ế" }',
  )
  expect(decodeText(editJson(body, [{ op: 'set', path: '/model', value: 'new' }]))).toBe(
    '{ "a" : 12345678901234567890,\n "model":"new" , "__proto__": {"k":[1, {"model":"in"}]}, "ẹ":"ế" }',
  )
})

test('finds members whose keys are written with escapes, and values that end in backslashes', () => {
  const body = ascii('{"\\u006dodel":"a\\\\","stop":["\\\\\\"]","}"],"n":1}')
  const members = membersOf(body)
  expect(members.map(member => member.key)).toEqual(['model', 'stop', 'n'])
  expect(members.map(member => characters(body.slice(member.valueStart, member.valueEnd)))).toEqual([
    '"a\\\\"',
    '["\\\\\\"]","}"]',
    '1',
  ])
})

test('adds, removes and changes members by pointer', () => {
  const edit = (text: string, ...edits: Parameters<typeof editJson>[1]) => decodeText(editJson(encodeText(text), edits))
  expect(edit('{}', { op: 'set', path: '/a/b', value: 1 })).toBe('{"a":{"b":1}}')
  expect(edit('{"x":1}', { op: 'set', path: '/é', value: 'ế' })).toBe('{"\\u00e9":"\\u1ebf","x":1}')
  expect(edit('{"a":1, "b":2, "c":3}', { op: 'remove', path: '/a' })).toBe('{"b":2, "c":3}')
  expect(edit('{"a":1, "b":2, "c":3}', { op: 'remove', path: '/c' })).toBe('{"a":1, "b":2}')
  expect(edit('{"a":1}', { op: 'remove', path: '/a' })).toBe('{}')
  expect(edit('{"a":1}', { op: 'remove', path: '/z' })).toBe('{"a":1}')
  expect(edit('{"m":[{"r":"s"},{"r":"t"}]}', { op: 'set', path: '/m/1/r', value: 'u' })).toBe(
    '{"m":[{"r":"s"},{"r":"u"}]}',
  )
  expect(edit('{"m":[1,2]}', { op: 'set', path: '/m/0', value: null })).toBe('{"m":[null,2]}')
  expect(edit('{"o":null}', { op: 'set', path: '/o/u', value: true })).toBe('{"o":{"u":true}}')
  expect(edit('{"o":null}', { op: 'remove', path: '/o/u' })).toBe('{"o":null}')
  expect(edit('{"a/b":{"~":1}}', { op: 'remove', path: '/a~1b/~0' })).toBe('{"a/b":{}}')
})

test('adds, removes and replaces several members at once', () => {
  const edit = (text: string, ...edits: BodyEdit[]) => {
    const bytes = encodeText(text)
    const pieces = editMembers(bytes, membersOf(bytes), edits)
    return pieces === null ? undefined : decodeText(joinBytes(pieces))
  }
  const body = ' { "a" : 1, "b":2 ,\n "c":3 }\n'
  expect(edit(body, { op: 'set', path: '/b', value: 'ế' }, { op: 'remove', path: '/c' })).toBe(
    ' { "a" : 1, "b":"\\u1ebf" }\n',
  )
  expect(edit(body, { op: 'remove', path: '/b' }, { op: 'remove', path: '/c' })).toBe(' { "a" : 1 }\n')
  expect(edit(body, { op: 'remove', path: '/a' }, { op: 'set', path: '/z~1', value: [] })).toBe(
    ' {"z/":[], "b":2 ,\n "c":3 }\n',
  )
  expect(edit('{"a":1}', { op: 'remove', path: '/a' }, { op: 'set', path: '/b', value: 2 })).toBe('{"b":2}')
  expect(edit('{ }', { op: 'set', path: '/b', value: 2 })).toBe('{"b":2 }')
  expect(edit(body, { op: 'set', path: '/b/c', value: 2 })).toBeUndefined()
  expect(edit(body, { op: 'remove', path: '/b' }, { op: 'set', path: '/b', value: 2 })).toBeUndefined()
})

test('uses the last of repeated members, as JSON.parse does', () => {
  const body = ascii('{"model":"cheap","x":1,"model":"dear","x":2}')
  const members = membersOf(body)
  expect(hasDuplicates(members)).toBe(true)
  const cleaned = withoutDuplicates(body, members)
  expect(decodeText(cleaned)).toBe('{"model":"dear","x":2}')
  expect(membersOf(cleaned).map(({ key }) => key)).toEqual(['model', 'x'])
})

test('an edit of any JSON object equals the same edit of its parsed form', () => {
  const key = fc.constantFrom('a', 'b"', '\\', '__proto__', 'ế', '')
  const body = fc.dictionary(key, fc.jsonValue(), { maxKeys: 5 })
  fc.assert(
    fc.property(body, key, fc.jsonValue(), fc.boolean(), fc.nat(3), (object, name, value, remove, indent) => {
      const text = encodeText(JSON.stringify(object, null, indent))
      const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const edited = decodeText(editJson(text, [remove ? { op: 'remove', path } : { op: 'set', path, value }]))
      const expected = new Map(Object.entries(JSON.parse(JSON.stringify(object))))
      if (remove) expected.delete(name)
      else expected.set(name, JSON.parse(JSON.stringify(value)))
      expect(new Map(Object.entries(JSON.parse(edited)))).toEqual(expected)
    }),
  )
})

test('several edits at once give the same text as one after another', () => {
  const key = fc.constantFrom('a', 'b"', '\\', '__proto__', 'ế', '', 'c/d~')
  const body = fc.dictionary(key, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 6 })
  const edit = fc.tuple(key, fc.jsonValue({ maxDepth: 1 }), fc.boolean())
  const edits = fc.uniqueArray(edit, { maxLength: 5, selector: ([name]) => name })
  fc.assert(
    fc.property(body, edits, fc.nat(3), (object, given, indent) => {
      const text = encodeText(JSON.stringify(object, null, indent))
      const wanted = given.map(([name, value, remove]): BodyEdit => {
        const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        return remove ? { op: 'remove', path } : { op: 'set', path, value }
      })
      const together = joinBytes(editMembers(text, membersOf(text), wanted) ?? [])
      expect(JSON.parse(decodeText(together))).toEqual(JSON.parse(decodeText(editJson(text, wanted))))
      expect(membersOf(together).length).toBe(new Set(membersOf(together).map(member => member.key)).size)
    }),
  )
})

test('many edits at once give the same text as one after another, and search a long list only once', () => {
  const token = fc.constantFrom('a', 'b', '0', '1', '2', 'x~1y')
  const path = fc.array(token, { minLength: 1, maxLength: 4 }).map(tokens => `/${tokens.join('/')}`)
  const edit = fc.oneof(
    fc.record({ op: fc.constant('set' as const), path, value: fc.jsonValue({ maxDepth: 1 }) }),
    fc.record({ op: fc.constant('remove' as const), path }),
  )
  const value = fc.letrec(tie => ({
    any: fc.oneof({ depthSize: 'small' }, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(
      token.map(name => name.replace('~1', '/')),
      tie('any'),
      { maxKeys: 5 },
    ),
  })).object
  fc.assert(
    fc.property(value, fc.array(edit, { maxLength: 8 }), (object, edits) => {
      const text = encodeText(JSON.stringify(object))
      const oneByOne = edits.reduce((edited, one) => editJson(edited, [one]), text)
      expect(editJson(text, edits)).toBe(oneByOne)
      const together = editMembers(text, membersOf(text), edits)
      if (together !== null) expect(parseUndecoded(joinBytes(together))).toEqual(parseUndecoded(oneByOne))
    }),
    { numRuns: 500 },
  )
  const count = 30_000
  const long = JSON.stringify({
    model: 'm',
    messages: Array.from({ length: count }, () => ({ name: 'n', content: 'x' })),
  })
  const all = Array.from({ length: count }, (_, index) => ({ op: 'remove' as const, path: `/messages/${index}/name` }))
  expect(decodeText(editJson(encodeText(long), all))).toBe(long.replaceAll('"name":"n",', ''))
})

test.each<[string, readonly BodyEdit[], string]>([
  [
    'after one within',
    [
      { op: 'remove', path: '/a/x/y' },
      { op: 'set', path: '/a/x', value: 1 },
    ],
    '{"a":{"x":1}}',
  ],
  [
    'before one within',
    [
      { op: 'set', path: '/a', value: 1 },
      { op: 'set', path: '/a/x', value: 2 },
    ],
    '{"a":{"x":2}}',
  ],
  [
    'twice',
    [
      { op: 'set', path: '/a', value: 1 },
      { op: 'set', path: '/a', value: 2 },
    ],
    '{"a":2}',
  ],
  [
    'after its removal',
    [
      { op: 'remove', path: '/a' },
      { op: 'set', path: '/a/x', value: 1 },
    ],
    '{"a":{"x":1}}',
  ],
])('sets a value %s', (_, edits, expected) => {
  expect(characters(editJson(ascii('{}'), edits))).toBe(expected)
})

test('the work of thousands of edits in one object grows in step with them', () => {
  const workOf = (count: number) => {
    const places = Array.from({ length: count }, (_, index) => `/properties/p${index}`)
    const properties = Object.fromEntries(places.map((_, index) => [`p${index}`, { old: 1 }]))
    const edits = places.flatMap((path, index): BodyEdit[] => {
      if (index % 2 === 0) return [{ op: 'remove', path }]
      return [
        { op: 'remove', path: `${path}/old` },
        { op: 'set', path: `${path}/new`, value: 1 },
        { op: 'set', path: `${path}-added`, value: 1 },
      ]
    })
    const charCodeAt = vi.spyOn(String.prototype, 'charCodeAt')
    editJson(encodeText(JSON.stringify({ properties })), edits)
    const work = charCodeAt.mock.calls.length
    charCodeAt.mockRestore()
    return work
  }
  expect(workOf(400) / workOf(100)).toBeLessThan(5)
})

test('a long text is written in UTF-8: to escape millions of characters takes seconds, and doubles their size', () => {
  const text = `Hà Nội 模 😀 "\\\n\ud800`.repeat(10_000)
  const edited = editJson(encodeText('{"a":1,"b":[2]}'), [
    { op: 'set', path: '/a', value: text },
    { op: 'set', path: '/b', value: [{ c: text }] },
  ])
  expect(JSON.parse(decodeText(edited))).toEqual({ a: text, b: [{ c: text }] })
  expect(edited.length).toBeLessThan(2.1 * Buffer.byteLength(JSON.stringify(text)))
})
