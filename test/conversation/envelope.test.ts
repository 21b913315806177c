/**
 * Envelopes, the tokens that carry encrypted reasoning: only the gateway that issued one can open it, and only for the same
 * account.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ENVELOPE_LENGTH_MAX, isEnvelope, makeEnvelopeSigner } from '../../src/conversation/envelope.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

const first = generateSecretSet()
const second = generateSecretSet().replace('1:', '2:')
const keys = parseSecretSet('KEY_PEPPERS', first)
const rotated = parseSecretSet('KEY_PEPPERS', `${first},${second}`)
const replaced = parseSecretSet('KEY_PEPPERS', second)
const signer = makeEnvelopeSigner(keys, '7')
const payload = { origin: 'up/1', seal: { wire: 'messages', signature: 'EqQBCkYIBhgC+/=' } }
const envelope = signer.wrap(payload)

describe('an envelope', () => {
  test('opens for its own account only', () => {
    expect(makeEnvelopeSigner(keys, '7').open(envelope)).toEqual(payload)
    expect(makeEnvelopeSigner(keys, '8').open(envelope)).toBeNull()
  })

  test('outlives a rotation for as long as its key is configured', () => {
    expect(makeEnvelopeSigner(rotated, '7').open(envelope)).toEqual(payload)
    const newer = makeEnvelopeSigner(rotated, '7').wrap('later')
    expect(newer).toMatch(/^gwm1\.2\./)
    expect(makeEnvelopeSigner(replaced, '7').open(newer)).toBe('later')
    expect(makeEnvelopeSigner(replaced, '7').open(envelope)).toBeNull()
  })

  test('consists of letters, digits, underscores, hyphens and points', () => {
    expect(envelope).toMatch(/^[\w.-]+$/)
    expect(isEnvelope(envelope)).toBe(true)
  })

  test('does not open once any character of it has changed', () => {
    const changed = [...envelope].map(
      (character, at) => envelope.slice(0, at) + (character === 'A' ? 'B' : 'A') + envelope.slice(at + 1),
    )
    // The last base64 character is left out, because changing it may change only unused bits.
    const last = envelope.length - 1
    const sound = changed.filter((text, at) => at !== last && signer.open(text) !== null)
    expect(sound).toEqual([])
  })

  test.each([
    ['a seal of OpenAI', 'gAAAAABo3xkXyz'],
    ['a signature of Anthropic', 'EqQBCkYIBhgC'],
    ['nothing', ''],
    ['its prefix alone', 'gwm1.'],
    ['a key that does not exist', 'gwm1.99999.e30.AAAAAAAAAAAAAAAAAAAAAA'],
    ['an envelope of a different length', `${envelope}AA`],
    ['a truncated one', envelope.slice(0, -5)],
    ['one that is too long', `gwm1.1.${'A'.repeat(ENVELOPE_LENGTH_MAX)}.${'A'.repeat(22)}`],
  ])('is not %s', (_what, text) => {
    expect(signer.open(text)).toBeNull()
  })

  test('opens to its payload; any other text opens to null', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(signer.open(signer.wrap(value as JsonValue))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    fc.assert(
      fc.property(fc.string(), text => {
        expect(signer.open(text)).toBeNull()
        expect(signer.open(`gwm1.1.${text}`)).toBeNull()
      }),
    )
  })
})
