/**
 * Tool schemas for upstreams that want a type at every value (`tools.schema: explicit_types`). The shapes are those for which Kimi's
 * API answered 400 in public reports, and what its validator (github.com/MoonshotAI/walle) refuses.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withExplicitTypes } from '../../src/dialect/explicit-types.ts'
import { keptToolSchema, toolSchema } from '../../src/dialect/schemas.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../../src/lib/json.ts'

const ANY = { anyOf: ['string', 'number', 'boolean', 'object', 'array', 'null'].map(type => ({ type })) }
const TREE = { type: 'object', properties: { next: { $ref: '#/$defs/n' } } }

describe('a value of a tool', () => {
  // biome-ignore format: a table
  test.each<[string, JsonValue, JsonObject | undefined]>([
    ['with a type stays', { type: 'string', minLength: 1 }, { type: 'string', minLength: 1 }],
    ['of any type', { description: 'd' }, { description: 'd', ...ANY }],
    ['that is merely true', true, ANY],
    ['that is false is no value', false, undefined],
    ['that lists strings', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['that lists strings and null', { type: ['string', 'null'], enum: ['a', null] }, { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
    ['that lists null under one type', { type: 'string', enum: ['a', null] }, { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
    ['that lists numbers', { type: 'number', enum: [1, 2.5] }, { type: 'number', enum: [1, 2.5] }],
    ['that lists objects', { enum: [{ a: 1 }] }, ANY],
    ['that is constant', { const: 'a' }, { const: 'a', type: 'string' }],
    ['whose keywords tell the type', { properties: {} }, { properties: {}, type: 'object' }],
    ['with an unknown type', { type: 'any' }, ANY],
    ['with null for a keyword', { type: 'string', description: null, enum: null }, { type: 'string' }],
    ['with a type beside its choice', { type: 'string', anyOf: [{ minLength: 1 }, { pattern: 'a' }] }, { anyOf: [{ type: 'string', minLength: 1 }, { type: 'string', pattern: 'a' }] }],
    ['with a choice beside its properties', { type: 'object', properties: { b: { type: 'string' } }, description: 'd', anyOf: [{ required: ['b'] }, { type: 'null' }] }, { description: 'd', anyOf: [{ type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }, { type: 'null' }] }],
    ['with one of several types', { oneOf: [{ type: 'string' }, {}] }, { anyOf: [{ type: 'string' }, ANY] }],
    ['with an empty choice', { type: 'string', anyOf: [] }, { type: 'string' }],
    ['with parts', { allOf: [{ $ref: '#/$defs/s' }], description: 'd' }, { $ref: '#/$defs/s', description: 'd' }],
    ['with conditions in its parts', { type: 'string', allOf: [{ if: {}, not: {} }] }, { type: 'string' }],
    ['that refers', { $ref: '#/$defs/s' }, { $ref: '#/$defs/s' }],
    ['that refers and describes', { $ref: '#/$defs/s', description: 'd' }, { $ref: '#/$defs/s', description: 'd' }],
    ['that refers beside a type', { $ref: '#/$defs/s', type: 'string', minLength: 2 }, { type: 'string', minLength: 2 }],
    ['that refers to an older definition', { $ref: '#/definitions/o' }, { $ref: '#/$defs/o' }],
    ['that refers to a property', { $ref: '#/properties/sibling' }, { type: 'integer' }],
    ['that refers to itself in a roundabout way', { $ref: '#/properties/value' }, ANY],
    ['that refers to something recursive', { $ref: '#/$defs/n', type: 'object' }, TREE],
    ['that refers to nothing', { $ref: '#/$defs/none', description: 'd' }, { description: 'd', ...ANY }],
    ['that refers elsewhere', { $ref: 'https://example.com/s.json' }, ANY],
    ['that refers by an escaped name', { $ref: '#/$defs/a~1b' }, { type: 'boolean' }],
    ['with a list for each place', { type: 'array', items: [{ type: 'string' }, { type: 'number' }] }, { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }],
    ['with items of any type', { type: 'array', items: {} }, { type: 'array' }],
    ['with items without a type', { items: { enum: [1] } }, { items: { type: 'integer', enum: [1] }, type: 'array' }],
    ['with further properties', { type: 'object', additionalProperties: { description: 'd' } }, { type: 'object', additionalProperties: { description: 'd', ...ANY } }],
    ['that requires what it does not declare', { type: 'object', properties: {}, required: ['z', 1] }, { type: 'object', properties: { z: ANY }, required: ['z'] }],
  ])('%s', (_, value, expected) => {
    const root = {
      type: 'object',
      properties: { value, sibling: { type: 'integer' } },
      $defs: { s: { type: 'string' }, n: TREE, 'a/b': { type: 'boolean' } },
      definitions: { o: { type: 'null' } },
    }
    const { properties } = withExplicitTypes(root)
    expect(properties).toEqual({ ...(expected && { value: expected }), sibling: { type: 'integer' } })
  })
})

describe('the root', () => {
  const A = {
    type: 'object',
    properties: { kind: { type: 'string', const: 'a' }, x: { type: 'string' } },
    required: ['kind', 'x'],
  }
  const B = { type: 'object', properties: { kind: { type: 'string', const: 'b' } }, required: ['kind'] }

  // biome-ignore format: a table
  test.each<[string, JsonObject, JsonObject]>([
    ['is an object', {}, { type: 'object', properties: {} }],
    ['is an object even if it says otherwise', { type: ['object', 'null'], enum: ['a'] }, { type: 'object', properties: {} }],
    ['that needs one of two properties', { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: [] }],
    ['that has variants', { oneOf: [A, B] }, { type: 'object', properties: { kind: { anyOf: [A.properties.kind, B.properties.kind] }, x: { type: 'string' } }, required: ['kind'] }],
    ['that refers to variants', { anyOf: [{ $ref: '#/$defs/A' }], $defs: { A } }, { ...A, $defs: { A } }],
    ['that refers', { $ref: '#/definitions/A', definitions: { A } }, { ...A, $defs: { A } }],
    ['that refers to itself', { $ref: '#' }, { type: 'object', properties: {} }],
    ['whose parts have a choice', { allOf: [{ anyOf: [A] }, { required: ['x'] }] }, { ...A, required: ['x', 'kind'] }],
  ])('%s', (_, given, expected) => {
    expect(toolSchema(given, 'explicit_types')).toEqual(expected)
    expect(keptToolSchema(given, 'explicit_types')).toEqual(expected)
  })

  test('that has 40,000 parts gets what they say at once', () => {
    const names = Array.from({ length: 40_000 }, (_, index) => `p${index}`)
    const allOf = names.map(name => ({ properties: { [name]: { type: 'string' } }, required: [name] }))
    const { properties, required } = withExplicitTypes({ type: 'object', allOf })
    expect([Object.keys(properties as JsonObject), required]).toEqual([names, names])
  })

  test('stays the same object if nothing has to change', () => {
    const schema = { ...A, $defs: { B } }
    expect(withExplicitTypes(schema)).toBe(schema)
  })
})

/** What the validator finds in a schema. */
function faults(node: JsonValue | undefined, root: JsonObject): string[] {
  if (!isObject(node)) return ['not a schema']
  const own: string[] = []
  const { $ref, anyOf, type } = node
  const isDefined = $ref === '#' || objectOrNull(root.$defs)?.[String($ref).replace('#/$defs/', '')] !== undefined
  if ($ref !== undefined && (!isDefined || type !== undefined || anyOf !== undefined)) own.push(`$ref ${$ref}`)
  if ($ref === undefined && (type === undefined) === (anyOf === undefined)) own.push(`type ${type}`)
  const names = Object.keys(objectOrNull(node.properties) ?? {})
  if (arrayOrEmpty(node.required).some(name => !names.includes(name as string))) own.push('required')
  for (const value of arrayOrEmpty(node.enum)) if ((value === null) !== (type === 'null')) own.push('enum')
  const children = [node.properties, node.$defs].flatMap(group => Object.values(objectOrNull(group) ?? {}))
  const free = isObject(node.additionalProperties) && Object.keys(node.additionalProperties).length > 0
  const others = [...arrayOrEmpty(anyOf), ...(node.items === undefined ? [] : [node.items])]
  if (free) others.push(node.additionalProperties!)
  return [...own, ...[...children, ...others].flatMap(child => faults(child, root))]
}

const value = fc.constantFrom<JsonValue>('x', '', 1, 2.5, true, null)

function schemaOf(depth: number): fc.Arbitrary<JsonObject> {
  const below = depth > 0 ? fc.oneof({ weight: 9, arbitrary: schemaOf(depth - 1) }, fc.boolean()) : fc.constant({})
  const list = fc.array<JsonValue>(below, { maxLength: 2 })
  return fc.record(
    {
      type: fc.constantFrom<JsonValue>('string', 'integer', 'object', 'array', 'null', 'odd', ['object', 'null'], null),
      description: fc.constantFrom('d', null),
      enum: fc.uniqueArray(value, { maxLength: 3 }),
      const: value,
      constructor: fc.constant('x'),
      properties: fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), below, { maxKeys: 2 }),
      required: fc.constantFrom<JsonValue>(['x'], ['x', 'z'], [], null),
      additionalProperties: below,
      items: fc.oneof(below, list),
      anyOf: list,
      oneOf: list,
      allOf: list,
      $ref: fc.constantFrom('#', '#/$defs/n', '#/$defs/m', '#/definitions/k', '#/properties/x', '#/$defs/none', '%'),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>
}

test('any schema becomes one without faults, and stays it', () => {
  fc.assert(
    fc.property(schemaOf(2), schemaOf(1), schemaOf(1), schemaOf(1), (root, n, m, k) => {
      const given = { ...root, $defs: { n, m }, definitions: { k } }
      const rewritten = toolSchema(given, 'explicit_types')
      expect(faults(rewritten, rewritten)).toEqual([])
      expect(rewritten.type).toBe('object')
      expect(toolSchema(rewritten, 'explicit_types')).toEqual(rewritten)
    }),
  )
})

test('references that multiply are expanded up to a limit', () => {
  const level = (next: number) => {
    const twice = { $ref: `#/$defs/${next}`, type: 'object' }
    return { type: 'object', properties: { a: twice, b: twice }, allOf: [twice, twice], anyOf: [twice, twice] }
  }
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}`, level(index + 1)]))
  const given = { ...level(0), $defs }
  expect(JSON.stringify(toolSchema(given, 'explicit_types')).length).toBeLessThan(100 * JSON.stringify(given).length)
})

test('what stands beside nested choices is copied up to a limit', () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, { type: 'string' }]))
  let given: JsonObject = { minLength: 1 }
  for (let level = 0; level < 9; level++) given = { type: 'object', properties, anyOf: [given, given] }
  const value = { type: 'object', properties: { given } }
  expect(JSON.stringify(toolSchema(value, 'explicit_types')).length).toBeLessThan(10 * JSON.stringify(value).length)
})

test('nesting is rewritten up to a limit', () => {
  let deep: JsonObject = {}
  for (let level = 0; level < 5_000; level++) deep = { [level % 2 ? 'items' : 'anyOf']: level % 2 ? deep : [deep] }
  expect(toolSchema({ properties: { deep }, anyOf: [deep] }, 'explicit_types')).toHaveProperty('type', 'object')
})
