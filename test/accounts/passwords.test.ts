import { argon2Sync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { passwordFault } from '../../src/accounts/password-rules.ts'
import { createPasswords, PasswordsBusyError } from '../../src/accounts/passwords.ts'

const passwords = createPasswords()

describe('hashes', () => {
  test('a password is stored as argon2id with its parameters in plain text, and a new salt each time', async () => {
    const [first, second] = await Promise.all([passwords.hash('one password'), passwords.hash('one password')])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(second).not.toBe(first)
    expect(await passwords.verify(first, 'one password')).toBe(true)
    expect(await passwords.verify(first, 'one Password')).toBe(false)
    expect(await passwords.verify(first, first)).toBe(false)
    expect(await passwords.verify(null, 'one password')).toBe(false)
  })

  test('a hash with other parameters still works, so that they can be raised', async () => {
    const nonce = Buffer.alloc(16, 7)
    const message = Buffer.from('old password')
    const tag = argon2Sync('argon2id', { message, nonce, parallelism: 1, tagLength: 32, memory: 1024, passes: 1 })
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
    const phc = `$argon2id$v=19$m=1024,t=1,p=1$${text(nonce)}$${text(tag)}`
    expect(await passwords.verify(phc, 'old password')).toBe(true)
    expect(await passwords.verify(phc, 'new password')).toBe(false)
    await expect(passwords.verify('$2b$10$something', 'x')).rejects.toThrow('damaged')
  })

  test('the same letters are the same password, however they were typed', async () => {
    const phc = await passwords.hash('ti\u1EBFng Vi\u1EC7t ho\u00E0i')
    expect(await passwords.verify(phc, 'tie\u0302\u0301ng Vie\u0323\u0302t hoa\u0300i')).toBe(true)
  })

  test('no more hashes run or wait at once than allowed, and all that are admitted finish', async () => {
    const few = createPasswords({ parallelMax: 1, waitingMax: 2 })
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => few.hash('password')))
    expect(results.map(result => result.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ])
    const refused = results.find(result => result.status === 'rejected')
    expect(refused?.reason).toBeInstanceOf(PasswordsBusyError)
    await expect(few.hash('password')).resolves.toBeTypeOf('string')
  })
})

test.each([
  ['short', 'too_short'],
  ['ười ươi ạ', 'too_short'],
  ['x'.repeat(129), 'too_long'],
  ['ế'.repeat(43), 'too_long'],
  ['1234567890', 'too_common'],
  ['MatKhau123', 'too_common'],
  ['aaaaaaaaaaaaaaaa', 'too_common'],
  ['longperson@example.com', 'too_common'],
  ['longperson', 'too_common'],
  ['con mèo trèo cây cau', null],
  ['correct horse', null],
  [`${'ab'.repeat(62)}cdef`, null],
])('the password %j is %s', (password, fault) => {
  expect(passwordFault(password, { email: 'LongPerson@example.com', limits: PEOPLE_LIMITS })).toBe(fault)
})
