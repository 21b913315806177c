/** Conversion helpers for names, ids, schemas, data URLs, output caps, code fences and reasoning tags. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argumentsObject } from '../../src/conversation/arguments.ts'
import { FenceFilter, withoutFence } from '../../src/conversation/code-fence.ts'
import { readDataUrl } from '../../src/conversation/images.ts'
import { idInForm, ToolNames, UpstreamIds } from '../../src/conversation/names.ts'
import { nearestLevel } from '../../src/conversation/reasoning-request.ts'
import { splitTag, TagSplitter } from '../../src/conversation/reasoning-tag.ts'
import { readSignedId, signId } from '../../src/conversation/signed-ids.ts'
import { endUserId } from '../../src/dialect/end-user.ts'
import { chosenOutputTokens, clampOutputTokens } from '../../src/dialect/output-cap.ts'
import {
  fitStrictMessages,
  qualifiesForStrictChat,
  qualifiesForStrictMessages,
  replySchema,
  toolSchema,
} from '../../src/dialect/schemas.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { imageUrlsToFetch, inlineImages } from '../../src/translate/image-urls.ts'

describe('tool names', () => {
  const name = fc.oneof(fc.string({ minLength: 1, maxLength: 100 }), fc.stringMatching(/^[a-z_.]{1,90}$/))

  test('are accepted upstream, distinct, and restored', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { maxLength: 30 }),
        fc.constantFrom('any', 'letter'),
        fc.constantFrom(16, 64),
        (all, start, max) => {
          const names = new ToolNames(all, { nameMax: max, nameStart: start as 'any' | 'letter' })
          const mapped = all.map(each => names.upstream(each))
          expect(new Set(mapped).size).toBe(all.length)
          for (const each of mapped) {
            expect(each).toMatch(start === 'letter' ? /^[a-zA-Z][\w-]*$/ : /^[\w-]+$/)
            expect(each.length).toBeLessThanOrEqual(max)
          }
          expect(mapped.map(each => names.client(each))).toEqual(all)
        },
      ),
    )
  })

  test('that fit stay, and unknown names from the model pass', () => {
    const names = new ToolNames(['fine-name_1'], { nameMax: 64, nameStart: 'any' })
    expect(names.upstream('fine-name_1')).toBe('fine-name_1')
    expect(names.client('invented')).toBe('invented')
  })

  test('are the same in every request, so that caches hit', () => {
    const shorten = () =>
      new ToolNames(['x'.repeat(99), 'other'], { nameMax: 64, nameStart: 'any' }).upstream('x'.repeat(99))
    expect(shorten()).toBe(shorten())
  })
})

describe('call ids', () => {
  const call = (id: string) => ({ kind: 'call', id, name: 'f', input: {}, signature: null }) as const

  test('have the form that the upstream accepts and are unique', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 90 }), { maxLength: 20 }),
        fc.constantFrom('any', 'word', 'alphanumeric_9'),
        (ids, form) => {
          const map = new UpstreamIds(form as 'any')
          const calls = ids.map(call)
          const mapped = calls.map(each => map.of(each))
          expect(new Set(mapped).size).toBe(ids.length)
          expect(calls.map(each => map.of(each))).toEqual(mapped)
          const pattern = { any: /^[\s\S]{1,64}$/, word: /^[\w-]{1,64}$/, alphanumeric_9: /^[a-zA-Z0-9]{9}$/ }[form]!
          for (const each of mapped) expect(each).toMatch(pattern)
        },
      ),
    )
  })

  test('carry a signature and restore it', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[\w-]{1,40}$/),
        fc.string({ minLength: 1, unit: 'grapheme' }),
        (id, signature) => {
          fc.pre(!id.includes('__sig_'))
          const signed = signId(id, signature)
          expect(signed).toMatch(/^[\w-]+$/)
          expect(readSignedId(signed)).toEqual({ id, signature })
        },
      ),
    )
    expect(signId('a', null)).toBe('a')
    expect(signId('a', 'x'.repeat(40_000))).toBe('a')
    expect(readSignedId('plain')).toEqual({ id: 'plain', signature: null })
    expect(idInForm('a.b', 'word')).toBe('a_b')
  })
})

// biome-ignore format: one case per line
test.each<[unknown, object]>([
  [{ a: 1 }, { a: 1 }], ['{"a":1}', { a: 1 }], ['', {}], [' \n', {}], [null, {}], [undefined, {}], ['null', {}],
  ['[1]', { _arguments: '[1]' }], ['{"a":', { _arguments: '{"a":' }], ['7', { _arguments: '7' }], [7, { _arguments: 7 }], [[1], { _arguments: [1] }],
])('arguments %j become the object %j', (value, object) => {
  expect(argumentsObject(value as string)).toEqual(object)
})

describe('schemas', () => {
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const objectWith = (count: number, property: object, required?: string[]): JsonObject => {
    const properties = Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, property]))
    return { ...closed, properties, required: required ?? Object.keys(properties) } as JsonObject
  }

  test('of tools are always object schemas', () => {
    expect(toolSchema(undefined, 'pass')).toEqual({ type: 'object', properties: {} })
    expect(toolSchema({}, 'pass')).toEqual({ type: 'object', properties: {} })
    expect(toolSchema({ $schema: 'x', properties: {} }, 'pass')).toEqual({
      type: 'object',
      $schema: 'x',
      properties: {},
    })
    expect(toolSchema({ $schema: 'x', type: 'object', $defs: {} }, 'no_meta_schema')).toEqual({
      type: 'object',
      $defs: {},
      properties: {},
    })
  })

  // biome-ignore format: one case per line
  test.each<[string, object, boolean, boolean]>([
    ['a closed one', closed, true, true],
    ['an open one', { ...closed, additionalProperties: true }, false, false],
    ['one with an optional property', { ...closed, required: [] }, false, true],
    ['one with an open object inside', { ...closed, properties: { a: { type: 'object', properties: {} } } }, false, false],
    ['one with an open object in a list', { ...closed, properties: { a: { type: 'array', items: { type: 'object' } } } }, false, false],
    ['one with a lookahead', { ...closed, properties: { a: { type: 'string', pattern: '^(?=x)' } } }, false, false],
    ['one with a plain pattern', { ...closed, properties: { a: { type: 'string', pattern: '^[a-z]+$', format: 'date' } } }, true, true],
    ['one with a range', { ...closed, properties: { a: { type: 'integer', minimum: 1, maximum: 5 } } }, true, false],
    ['one with a length', { ...closed, properties: { a: { type: 'array', items: { type: 'string', minLength: 1 } } } }, true, false],
    ['one with oneOf', { ...closed, properties: { a: { oneOf: [closed] } } }, true, false],
    ['one with allOf', { ...closed, properties: { a: { allOf: [closed] } } }, false, true],
    ['a recursive one', { ...closed, properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { ...closed, properties: { a: { $ref: '#/$defs/n' } } } } }, true, false],
    ['one with a reference', { ...closed, properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: closed } }, true, true],
    ['one without properties', { type: 'object', additionalProperties: false }, true, true],
    ['a choice at the root', { anyOf: [closed] }, false, true],
  ])('%s: strict for chat %#', (_, schema, chat, messages) => {
    expect(qualifiesForStrictChat(schema as typeof closed)).toBe(chat)
    expect(qualifiesForStrictMessages(schema as typeof closed)).toBe(messages)
  })

  // biome-ignore format: one case per line
  test.each<[string, object[], boolean]>([
    ['20 small ones', Array(20).fill(closed), true],
    ['21 small ones', Array(21).fill(closed), false],
    ['24 optional properties', Array(12).fill({ ...closed, properties: { a: {}, b: {} }, required: [] }), true],
    ['25 optional properties', [objectWith(25, {}, [])], false],
    ['16 unions', [objectWith(8, { type: ['string', 'null'] }), objectWith(8, { anyOf: [closed, { type: 'null' }] })], true],
    ['17 unions', [objectWith(17, { type: ['string', 'null'] })], false],
    ['17 unions in a list', [{ ...closed, properties: { a: { type: 'array', items: objectWith(17, { type: ['string', 'null'] }) } } }], false],
  ])('that are strict may be in one messages request up to its limits: %s', (_, schemas, fit) => {
    expect(fitStrictMessages(schemas as JsonObject[])).toBe(fit)
  })

  test('of a reply cannot be expressed if they are beyond those limits', () => {
    expect(replySchema(objectWith(16, { type: ['string', 'null'] }))).not.toBeNull()
    expect(replySchema(objectWith(17, { type: ['string', 'null'] }))).toBeNull()
  })

  test('of a reply cannot be expressed if keys are arbitrary or definitions recursive', () => {
    expect(replySchema({ type: 'object' })).toBeNull()
    expect(replySchema({ type: 'object', additionalProperties: { type: 'string' } })).toBeNull()
    expect(replySchema({ type: 'object', properties: { a: { $ref: '#' } } })).toBeNull()
    expect(replySchema({ type: 'object', properties: { a: { $ref: 'http://elsewhere' } } })).toBeNull()
  })

  test('of a reply may use a definition again, which is examined once however many paths lead to it', () => {
    let looks = 0
    const leaf = Object.defineProperty({ type: 'string' }, '$ref', { get: () => void looks++, enumerable: true })
    const refer = (to: number) => ({ $ref: `#/$defs/d${to}` })
    const level = (to: number) => objectWith(4, refer(to))
    const $defs = { ...Object.fromEntries([1, 2, 3, 4, 5, 6].map(at => [`d${at - 1}`, level(at)])), d6: leaf }
    expect(replySchema({ ...closed, properties: { a: refer(0) }, $defs })).not.toBeNull()
    expect(looks).toBeLessThan(10)
    expect(replySchema({ ...closed, properties: { a: refer(0) }, $defs: { ...$defs, d6: level(0) } })).toBeNull()
  })

  test('nested too deeply are examined up to a limit only', () => {
    let deep: { type: string; items: object } = { type: 'array', items: {} }
    for (let level = 0; level < 5_000; level += 1) deep = { type: 'array', items: deep }
    expect(qualifiesForStrictChat({ ...closed, properties: { a: deep as never } })).toBe(false)
    expect(replySchema({ ...closed, properties: { a: deep as never } })).toBeNull()
  })
})

// biome-ignore format: one case per line
test.each<[string, object | null]>([
  ['data:image/png;base64,AAAA', { mediaType: 'image/png', data: 'AAAA' }],
  ['DATA:Image/PNG;charset=utf-8;BASE64,AA\r\nAA', { mediaType: 'image/png', data: 'AAAA' }],
  ['data:image/png;base64,A-_%3D', { mediaType: 'image/png', data: 'A+/=' }],
  ['data:text/plain,a%20b', { mediaType: 'text/plain', data: 'YSBi' }],
  ['data:,x', { mediaType: '', data: 'eA==' }],
  ['data:image/png', null], ['https://a', null], ['AAAA', null],
])('the data URL %j is %j', (url, parts) => {
  expect(readDataUrl(url)).toEqual(parts)
})

describe('image URLs that the gateway fetches', () => {
  const url = 'https://example.com/a.png'
  const image = { mediaType: 'image/png', data: 'AAAA' }
  const chat = {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url, detail: 'low' } },
          { type: 'image_url', image_url: url },
          { type: 'image_url', image_url: { url: 'data:x' } },
        ],
      },
    ],
  }
  const source = { type: 'url', url }
  const messages = {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source },
          { type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url: 'https://b' } }] },
        ],
      },
      'odd',
    ],
  }

  test('are listed without duplicates, in order', () => {
    expect(imageUrlsToFetch('chat_completions', chat)).toEqual([url])
    expect(imageUrlsToFetch('messages', messages)).toEqual([url, 'https://b'])
    expect(imageUrlsToFetch('messages', {})).toEqual([])
  })

  test('are replaced with the image, wherever they are', () => {
    expect(inlineImages('chat_completions', chat, new Map([[url, image]]))).toEqual([
      { op: 'set', path: '/messages/0/content/0/image_url/url', value: 'data:image/png;base64,AAAA' },
      { op: 'set', path: '/messages/0/content/1/image_url', value: 'data:image/png;base64,AAAA' },
    ])
    expect(inlineImages('messages', messages, new Map([['https://b', image]]))).toEqual([
      {
        op: 'set',
        path: '/messages/0/content/1/content/0/source',
        value: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
      },
    ])
  })
})

describe('caps', () => {
  const facts = { outputTokensMax: 64_000, contextTokens: 200_000, inputTokensEstimate: 1_000 }

  test('of the client are clamped to the model', () => {
    expect(clampOutputTokens(128_000, { outputTokensMax: 64_000, capMin: null })).toBe(64_000)
    expect(clampOutputTokens(128_000, { outputTokensMax: null, capMin: null })).toBe(128_000)
    expect(clampOutputTokens(0, { outputTokensMax: 64_000, capMin: null })).toBe(1)
    expect(clampOutputTokens(1.5, { outputTokensMax: 64_000, capMin: null })).toBe(1)
    expect(clampOutputTokens(5, { outputTokensMax: 64_000, capMin: 16 })).toBe(16)
  })

  test('of the gateway are the model’s limit, less where the context is nearly full', () => {
    expect(chosenOutputTokens(facts)).toBe(64_000)
    expect(chosenOutputTokens({ ...facts, inputTokensEstimate: 150_000 })).toBe(33_000)
    expect(chosenOutputTokens({ ...facts, inputTokensEstimate: 500_000 })).toBe(1_024)
    expect(chosenOutputTokens({ ...facts, outputTokensMax: null, contextTokens: null })).toBe(8_192)
  })
})

// biome-ignore format: one case per line
test.each<[string, string[], string | null]>([
  ['medium', ['low', 'high', 'max'], 'high'], ['xhigh', ['low', 'high', 'max'], 'max'], ['max', ['low', 'high'], 'high'],
  ['none', ['low', 'high'], 'low'], ['minimal', ['none', 'low'], 'low'], ['low', ['none'], 'none'], ['low', [], null],
])('effort %s among %j is %j', (wanted, levels, level) => {
  expect(nearestLevel(wanted as 'low', levels as 'low'[])).toBe(level)
})

test('end user ids are sent as they are if they fit, else as a stable hash', () => {
  const facts = { lengthMax: 64, characters: 'word' } as const
  expect(endUserId('user-1', facts)).toBe('user-1')
  expect(endUserId('ann@example.com', facts)).toMatch(/^[0-9a-f]{64}$/)
  expect(endUserId('ann@example.com', { ...facts, lengthMax: 32 })).toHaveLength(32)
  expect(endUserId('ann@example.com', { ...facts, characters: 'any' })).toBe('ann@example.com')
})

describe('filters of streamed text', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '`',
      '``',
      '```',
      '```json',
      '\n',
      '\r\n',
      ' ',
      '\t',
      '{"a":1}',
      'x',
      '<think>',
      '</think>',
      '<',
      '/',
      'think>',
      '<thi',
    ),
    fc.string({ maxLength: 5 }),
  )
  const pieces = fc.array(piece, { maxLength: 25 })

  test('a fence is removed in the same way from streamed and non-streamed text', () => {
    fc.assert(
      fc.property(pieces, parts => {
        const filter = new FenceFilter()
        expect(parts.map(part => filter.push(part)).join('') + filter.end()).toBe(withoutFence(parts.join('')))
      }),
      { numRuns: 5_000 },
    )
  })

  test('only a real fence is removed', () => {
    expect(withoutFence('```json\n{"a":1}\n```\n')).toBe('{"a":1}')
    expect(withoutFence('  ```{"a":"```"}```')).toBe('{"a":"```"}')
    expect(withoutFence('Here: ```json\n{}\n```')).toBe('Here: ```json\n{}\n```')
    expect(withoutFence('{"a":1}')).toBe('{"a":1}')
  })

  test('a tag is split off in the same way from streamed and non-streamed text', () => {
    fc.assert(
      fc.property(pieces, parts => {
        const splitter = new TagSplitter('think')
        const given = [...parts.map(part => splitter.push(part)), splitter.end()]
        const joined = {
          reasoning: given.map(each => each.reasoning).join(''),
          text: given.map(each => each.text).join(''),
        }
        expect(joined).toEqual(splitTag(parts.join(''), 'think'))
      }),
      { numRuns: 5_000 },
    )
  })

  test('a tag is only split off at the start', () => {
    expect(splitTag('\n<think>h\n</think>\n\na', 'think')).toEqual({ reasoning: 'h\n', text: 'a' })
    expect(splitTag('a<think>h</think>', 'think')).toEqual({ reasoning: '', text: 'a<think>h</think>' })
    expect(splitTag('<think>never closed', 'think')).toEqual({ reasoning: 'never closed', text: '' })
  })
})
