import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { Json } from '../../src/sandbox/json.ts'
import { patternString } from '../../src/sandbox/pattern.ts'
import { instanceOf } from '../../src/sandbox/schema-instance.ts'

const ajv = new Ajv2020({ strict: false, formats: formats() })

/** Strict checks of string formats, so that a wrong sample value is noticed. */
function formats() {
  return {
    'date-time': (text: string) => text.includes('T') && !Number.isNaN(Date.parse(text)),
    date: /^\d{4}-\d{2}-\d{2}$/,
    time: /^\d{2}:\d{2}:\d{2}Z$/,
    email: /^\S+@\S+\.\S+$/,
    uri: (text: string) => URL.canParse(text),
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ipv4: /^\d+\.\d+\.\d+\.\d+$/,
  }
}

function instance(schema: object, hints: { strings?: string[]; numbers?: number[] } = {}): Json {
  return instanceOf(schema as Json, { strings: [], numbers: [], ...hints })
}

const GOOD: Record<string, object> = {
  'a plain object': {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' }, d: { type: 'null' }, e: {} },
    required: ['a', 'b', 'c', 'd', 'e'],
    additionalProperties: false,
  },
  'enum and const': {
    type: 'object',
    properties: {
      unit: { enum: ['c', 'f'] },
      kind: { const: { deep: [1] } },
      level: { type: 'integer', enum: [null, 3] },
    },
    required: ['unit', 'kind', 'level'],
  },
  'objects in arrays in objects': {
    type: 'object',
    properties: {
      list: {
        type: 'array',
        minItems: 3,
        items: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false },
      },
    },
    required: ['list'],
  },
  'unique items': { type: 'array', minItems: 4, uniqueItems: true, items: { type: 'string', minLength: 2 } },
  'unique enum items': { type: 'array', minItems: 2, uniqueItems: true, items: { enum: ['a', 'b'] } },
  tuples: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
  'what an array contains': { type: 'array', contains: { const: 7 }, minItems: 1 },
  'a tree': {
    $defs: {
      node: {
        type: 'object',
        properties: { v: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
        required: ['v', 'kids'],
      },
    },
    $ref: '#/$defs/node',
  },
  'no items at most': { type: 'array', maxItems: 0, items: { type: 'string' } },
  anyOf: { anyOf: [{ type: 'null' }, { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }] },
  'oneOf beside properties': {
    type: 'object',
    properties: { kind: { type: 'string' } },
    required: ['kind'],
    oneOf: [
      { properties: { kind: { const: 'one' }, n: { type: 'integer' } }, required: ['n'] },
      { properties: { kind: { const: 'two' } } },
    ],
  },
  allOf: {
    allOf: [
      { type: 'object', properties: { a: { type: 'string', minLength: 3 } }, required: ['a'] },
      { properties: { a: { maxLength: 4 }, b: { type: 'integer', minimum: 5 } }, required: ['b'] },
    ],
  },
  'references and definitions': {
    $defs: {
      point: { type: 'object', properties: { x: { $ref: '#/$defs/number' } }, required: ['x'] },
      number: { type: 'number', minimum: 2 },
    },
    type: 'object',
    properties: { from: { $ref: '#/$defs/point' }, to: { $ref: '#/$defs/point', description: 'beside a reference' } },
    required: ['from', 'to'],
  },
  'a tree that ends': {
    $defs: {
      node: {
        type: 'object',
        properties: { value: { type: 'string' }, left: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['value'],
      },
    },
    $ref: '#/$defs/node',
  },
  'a list of types': { type: ['null', 'integer'], minimum: 4 },
  'numbers between bounds': {
    type: 'object',
    properties: {
      a: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
      b: { type: 'integer', minimum: -9, maximum: -3 },
      c: { type: 'integer', minimum: 10, multipleOf: 7 },
      d: { type: 'number', maximum: -0.5 },
      e: { type: 'integer', exclusiveMinimum: 2, maximum: 9007199254740991 },
    },
    required: ['a', 'b', 'c', 'd', 'e'],
  },
  'strings of a length': {
    type: 'object',
    properties: {
      a: { type: 'string', minLength: 40 },
      b: { type: 'string', maxLength: 3 },
      c: { type: 'string', maxLength: 0 },
    },
    required: ['a', 'b', 'c'],
  },
  formats: {
    type: 'object',
    properties: Object.fromEntries(Object.keys(formats()).map(format => [format, { type: 'string', format }])),
    required: Object.keys(formats()),
  },
  'at least so many properties': { type: 'object', minProperties: 2, additionalProperties: { type: 'integer' } },
  'properties that need others': {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' } },
    required: ['a'],
    dependentRequired: { a: ['b'] },
  },
  'a property without a type, and names that objects have': {
    type: 'object',
    properties: { toString: { type: 'integer' }, free: { description: 'anything' } },
    required: ['toString', 'constructor', 'free'],
  },
}

test.each(Object.entries(GOOD))('generates what a validator accepts: %s', (_name, schema) => {
  const value = instance(schema)
  const validate = ajv.compile(schema)
  validate(value)
  expect({ value, errors: validate.errors }).toEqual({ value, errors: null })
})

test('takes strings and numbers from the prompt where they fit, each once', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { enum: ['c'] },
      other: { type: 'string' },
      days: { type: 'integer', minimum: 1, maximum: 9 },
    },
    required: ['city', 'unit', 'other', 'days'],
  }
  const value = instance(schema, { strings: ['Huế', 'Paris'], numbers: [2.5, 40, 3] })
  expect(value).toEqual({ city: 'Huế', unit: 'c', other: 'Paris', days: 3 })
})

test('fills a command with something harmless, whatever the prompt says', () => {
  const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }
  expect(instance(schema, { strings: ['rm -rf /'] })).toEqual({ command: 'echo sandbox' })
})

test('a key such as __proto__ stays plain data', () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}')
  const value = instance(schema) as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test.each([
  ['circular references', { $ref: '#' }],
  ['circular references that double', { allOf: [{ $ref: '#' }, { $ref: '#' }] }],
  [
    'an endless required tree',
    { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } }, required: ['a', 'b'] },
  ],
  ['a billion items', { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } }],
  ['a reference to nowhere', { $ref: '#/%zz/~9' }],
  ['a schema that is false', { type: 'object', properties: { a: false }, required: ['a'] }],
])('terminates for %s', (_name, schema) => {
  expect(JSON.stringify(instance(schema)).length).toBeLessThan(2_000_000)
})

test.each([
  '^[a-z]{3}-\\d{4}$',
  '^(foo|bar)+_[A-F0-9]{8}$',
  '^\\+?[1-9]\\d{6,14}$',
  '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
  '^(?:\\d{1,3}\\.){3}\\d{1,3}$',
  '^#[0-9a-fA-F]{6}$',
  '^(?<year>\\d{4})-(?<month>0[1-9]|1[0-2])$',
  '^\\p{Lu}\\p{Ll}+$',
  '^[\\w.-]+/[\\w.-]+$',
  '^a?b*c+$',
  '^.{5,10}$',
  '^\\u0041\\x42$',
  'anywhere',
])('generates a string that %s accepts', pattern => {
  expect(patternString(pattern, { lengthMin: 0, lengthMax: 100 })).toMatch(new RegExp(pattern, 'u'))
})

test('extends a pattern to the minimum length', () => {
  expect(patternString('^[a-z]+$', { lengthMin: 12, lengthMax: 20 })).toMatch(/^[a-z]{12,20}$/)
})

test.each(['((((a{9999}){9999}){9999}){9999})', '(((((', '[[[', 'a{99999999}', '\\', '(?'])(
  'terminates for %s',
  pattern => {
    expect(patternString(pattern, { lengthMin: 0, lengthMax: 10_000 }).length).toBeLessThanOrEqual(10_000)
  },
)
