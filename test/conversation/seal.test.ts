/**
 * Marks, the tokens that carry encrypted reasoning: only the gateway that issued one can open it, and only for the same
 * account.
 */

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
  test('opens for its own account only', () => {
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

  test('consists of letters, digits, underscores, hyphens and points', () => {
    expect(mark).toMatch(/^[\w.-]+$/)
    expect(isMark(mark)).toBe(true)
  })

  test('does not open once any character of it has changed', () => {
    const changed = [...mark].map(
      (character, at) => mark.slice(0, at) + (character === 'A' ? 'B' : 'A') + mark.slice(at + 1),
    )
    // The last base64 character is left out, because changing it may change only unused bits.
    const last = mark.length - 1
    const sound = changed.filter((text, at) => at !== last && sealer.open(text) !== null)
    expect(sound).toEqual([])
  })

  test.each([
    ['a seal of OpenAI', 'gAAAAABo3xkXyz'],
    ['a signature of Anthropic', 'EqQBCkYIBhgC'],
    ['nothing', ''],
    ['its prefix alone', 'gwm1.'],
    ['a key that does not exist', 'gwm1.99999.e30.AAAAAAAAAAAAAAAAAAAAAA'],
    ['a mark of a different length', `${mark}AA`],
    ['a truncated one', mark.slice(0, -5)],
    ['one that is too long', `gwm1.1.${'A'.repeat(MARK_LENGTH_MAX)}.${'A'.repeat(22)}`],
  ])('is not %s', (_what, text) => {
    expect(sealer.open(text)).toBeNull()
  })

  test('opens to its payload; any other text opens to null', () => {
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
