/** Marks around sealed reasoning: opened by the gateway that made them, for the account that got them, and by nobody else. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isMark,
  MARK_LENGTH_MAX,
  makeSealer,
  PIECE_BREAK,
  type Seal,
  sealIn,
  sealPayload,
  splitPieces,
} from '../../src/conversation/seal.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

const first = generateSecretSet()
const second = generateSecretSet().replace('1:', '2:')
const keys = parseSecretSet('KEY_PEPPERS', first)
const rotated = parseSecretSet('KEY_PEPPERS', `${first},${second}`)
const replaced = parseSecretSet('KEY_PEPPERS', second)
const sealer = makeSealer(keys, '7')
const signature: Seal = { wire: 'messages', signature: 'EqQBCkYIBhgC+/=', origin: 'up/1' }
const mark = sealer.seal(sealPayload(signature, 'up/1'))

describe('a mark', () => {
  test('opens for its own account and no other', () => {
    expect(sealIn(mark, makeSealer(keys, '7').open)).toEqual(signature)
    expect(makeSealer(keys, '8').open(mark)).toBeNull()
  })

  test('outlives a rotation for as long as its key is configured', () => {
    expect(sealIn(mark, makeSealer(rotated, '7').open)).toEqual(signature)
    const newer = makeSealer(rotated, '7').seal('later')
    expect(newer).toMatch(/^gwm1\.2\./)
    expect(makeSealer(replaced, '7').open(newer)).toBe('later')
    expect(makeSealer(replaced, '7').open(mark)).toBeNull()
  })

  test('holds letters, digits, underscores, hyphens and points only', () => {
    expect(mark).toMatch(/^[\w.-]+$/)
    expect(isMark(mark)).toBe(true)
  })

  test('does not open once any character of it has changed', () => {
    const changed = [...mark].map(
      (character, at) => mark.slice(0, at) + (character === 'A' ? 'B' : 'A') + mark.slice(at + 1),
    )
    // The last character of base64 has bits that say nothing; the bytes are what is compared.
    const last = mark.length - 1
    const sound = changed.filter((text, at) => at !== last && sealer.open(text) !== null)
    expect(sound).toEqual([])
  })

  test.each([
    ['a seal of OpenAI', 'gAAAAABo3xkXyz'],
    ['a signature of Anthropic', 'EqQBCkYIBhgC'],
    ['nothing', ''],
    ['its prefix alone', 'gwm1.'],
    ['a key that is none', 'gwm1.99999.e30.AAAAAAAAAAAAAAAAAAAAAA'],
    ['a mark of another length', `${mark}AA`],
    ['one that is cut', mark.slice(0, -5)],
    ['one that is longer than any', `gwm1.1.${'A'.repeat(MARK_LENGTH_MAX)}.${'A'.repeat(22)}`],
  ])('is not %s', (_what, text) => {
    expect(sealer.open(text)).toBeNull()
  })

  test('gives back every payload, and nothing for any other text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), payload => {
        expect(sealer.open(sealer.seal(payload as JsonValue))).toEqual(JSON.parse(JSON.stringify(payload)))
      }),
    )
    fc.assert(
      fc.property(fc.string(), text => {
        expect(sealer.open(text)).toBeNull()
        expect(sealer.open(`gwm1.1.${text}`)).toBeNull()
      }),
    )
  })
})

describe('a seal', () => {
  test.each<[string, Seal]>([
    ['a signature', { wire: 'messages', signature: 's', origin: 'o' }],
    ['redacted thinking', { wire: 'messages', redacted: 'r', origin: 'o' }],
    ['a reasoning item', { wire: 'responses', id: 'rs_1', encrypted: 'gAAAA', origin: 'o' }],
    ['a reasoning item without an id', { wire: 'responses', id: null, encrypted: 'gAAAA', origin: 'o' }],
    ['one with several texts', { wire: 'responses', id: 'rs_1', encrypted: 'gAAAA', pieces: [3, 4], origin: 'o' }],
  ])('comes back as it went: %s', (_what, seal) => {
    expect(sealIn(sealer.seal(sealPayload(seal, 'o')), sealer.open)).toEqual(seal)
  })

  test.each<[string, JsonValue | undefined]>([
    ['a mark that holds something else', sealer.seal({ kind: 'item', wire: 'messages', signature: 's', origin: 'o' })],
    ['a mark without an origin', sealer.seal({ kind: 'seal', wire: 'messages', signature: 's' })],
    ['a mark of an unknown wire', sealer.seal({ kind: 'seal', wire: 'other', signature: 's', origin: 'o' })],
    ['a mark without a seal', sealer.seal({ kind: 'seal', wire: 'responses', origin: 'o' })],
    ['a text of somebody else', 'gAAAAABo'],
    ['a number', 7],
    ['nothing', undefined],
  ])('is not found in %s', (_what, value) => {
    expect(sealIn(value, sealer.open)).toBeNull()
  })
})

describe('texts that a client joined', () => {
  test('come apart where they were joined', () => {
    const texts = ['one\n\ntwo', '', 'three']
    const pieces = texts.map(text => text.length)
    expect(splitPieces(texts.join(PIECE_BREAK), pieces)).toEqual(texts)
  })

  test('stay one where the client has changed them', () => {
    expect(splitPieces('a text of its own', [3, 3])).toEqual(['a text of its own'])
    expect(splitPieces('text', [])).toEqual(['text'])
    expect(splitPieces('text', [-9, 2])).toEqual(['text'])
  })
})
