import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { isUuid, uuidv7 } from '../../src/lib/ids.ts'
import { generateSecretSet, keyedHash, open, parseSecretSet, seal } from '../../src/lib/secrets.ts'

const secret = Buffer.alloc(32, 7).toString('base64')

test('reads numbered secrets, and takes the highest number for new values', () => {
  const set = parseSecretSet('KEYS', `1:${secret}, 12:${Buffer.alloc(32, 8).toString('base64url')}`)
  expect(set.currentId).toBe(12)
  expect([...set.secrets.keys()]).toEqual([1, 12])
  expect(parseSecretSet('KEYS', generateSecretSet()).secrets.get(1)).toHaveLength(32)
})

test('a secret on standby is readable, and not used for new values', () => {
  const next = Buffer.alloc(32, 9).toString('base64')
  const set = parseSecretSet('KEYS', `1:${secret},2:${next}:standby`)
  expect(set.currentId).toBe(1)
  expect(set.secrets.get(2)).toEqual(Buffer.alloc(32, 9))
  const later = parseSecretSet('KEYS', `1:${secret},2:${next}`)
  expect(open(set, seal(later, 'sk-secret', String), String)).toBe('sk-secret')
})

test.each([
  [`1:${secret}:standby`, 'KEYS has only secrets on standby; remove `:standby` from one of them'],
  [`1:${secret}:later`, 'KEYS: part 1 is not in the form <number>:<base64>'],
  ['', 'KEYS: part 1 is not in the form <number>:<base64>; write KEYS=1:<32 bytes in base64>'],
  [secret, 'KEYS: part 1 is not in the form <number>:<base64>'],
  [`1:${secret},`, 'KEYS: part 2 is not in the form <number>:<base64>'],
  [`0:${secret}`, 'KEYS: part 1: key number 0 is out of range; use 1 to 32767'],
  [`40000:${secret}`, 'KEYS: part 1: key number 40000 is out of range; use 1 to 32767'],
  [`1:${secret},1:${secret}`, 'KEYS: part 2 repeats the number 1; give each secret its own'],
  ['1:c2hvcnQ=', 'KEYS: part 1 decodes to 5 bytes instead of 32'],
])('says what is wrong with %j, without repeating it', (text, message) => {
  expect(() => parseSecretSet('KEYS', text)).toThrow(message)
  try {
    parseSecretSet('KEYS', text)
  } catch (error) {
    expect(String(error)).not.toContain(secret)
  }
})

test('a sealed value opens for its own row only, and not when a tag is short', () => {
  const set = parseSecretSet('KEYS', `1:${secret}`)
  const sealed = seal(set, 'sk-secret', keyId => `row 1|${keyId}`)
  expect(open(set, sealed, keyId => `row 1|${keyId}`)).toBe('sk-secret')
  expect(() => open(set, sealed, keyId => `row 2|${keyId}`)).toThrow('belongs to another row')
  for (let cut = 1; cut < sealed.ciphertext.length; cut++) {
    const short = { ...sealed, ciphertext: sealed.ciphertext.subarray(0, -cut) }
    expect(() => open(set, short, keyId => `row 1|${keyId}`)).toThrow('damaged')
  }
  expect(() => open(set, { ...sealed, iv: sealed.iv.subarray(1) }, keyId => `row 1|${keyId}`)).toThrow('damaged')
})

test.each([1, 32, 64])('hashes with a secret of %i bytes are HMACs, whatever the text', length => {
  const secretBytes = randomBytes(length)
  for (const text of ['', 'sk-live', 'khoá ☂ 🙂', '\u0000\ud800', 'x'.repeat(10_000)]) {
    const hmac = createHmac('sha256', secretBytes).update(text, 'utf8').digest()
    expect(keyedHash(secretBytes, text)).toEqual(hmac)
    expect(keyedHash(Buffer.from(secretBytes), text)).toEqual(hmac)
  }
})

test('ids are version 7, carry their time, sort by it and do not repeat', () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => uuidv7(1_700_000_000_000 + index))
  expect(new Set(ids).size).toBe(5_000)
  expect(ids.toSorted()).toEqual(ids)
  expect(ids.every(id => isUuid(id) && /^.{14}7.{4}[89ab]/.test(id))).toBe(true)
  expect(Number.parseInt(ids[0]!.slice(0, 13).replace('-', ''), 16)).toBe(1_700_000_000_000)
})
