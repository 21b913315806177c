/** Marks around sealed reasoning: opened by the gateway that made them, for the account that got them, and by nobody else. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMark, MARK_LENGTH_MAX, makeSealer } from '../../src/conversation/seal.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

const first = generateSecretSet()
const second = generateSecretSet().replace('1:', '2:')
const keys = parseSecretSet('KEY_PEPPERS', first)
const rotated = parseSecretSet('KEY_PEPPERS', `${first},${second}`)
const replaced = parseSecretSet('KEY_PEPPERS', second)
const sealer = makeSealer(keys, '7')
const payload = { origin: 'up/1', seal: { wire: 'messages', signature: 'EqQBCkYIBhgC+/=' } }
const mark = sealer.seal(payload)

describe('a mark', () => {
  test('opens for its own account and no other', () => {
    expect(makeSealer(keys, '7').open(mark)).toEqual(payload)
    expect(makeSealer(keys, '8').open(mark)).toBeNull()
  })

  test('outlives a rotation for as long as its key is configured', () => {
    expect(makeSealer(rotated, '7').open(mark)).toEqual(payload)
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
      fc.property(fc.jsonValue(), value => {
        expect(sealer.open(sealer.seal(value as JsonValue))).toEqual(JSON.parse(JSON.stringify(value)))
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
