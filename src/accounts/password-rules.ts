/** Which passwords are accepted: within the length limits, and not among the easiest to guess. */

import type { PeopleLimits } from './limits.ts'
import type { PasswordFault } from './types.ts'

/** The most frequently leaked passwords of ten or more characters, and some that are common in Vietnam. */
const COMMON: ReadonlySet<string> = new Set([
  '1234567890',
  '0123456789',
  '9876543210',
  '0987654321',
  '12345678910',
  '123456789a',
  'a123456789',
  '1234567891',
  '123123123123',
  '1q2w3e4r5t',
  '1q2w3e4r5t6y',
  'qwertyuiop',
  'qwerty1234',
  'qwerty12345',
  'qwerty123456',
  'password12',
  'password123',
  'password1234',
  'passw0rd123',
  'iloveyou123',
  'matkhau123',
  'matkhau1234',
  'anhyeuem123',
  'anhyeuem12345',
  'emyeuanh123',
  'vietnam123',
  'administrator',
  'asdfghjkl1',
  'zxcvbnm123',
])

/**
 * Returns null if the password is acceptable. Besides common passwords, rejects the account's own address or its local part,
 * and passwords with fewer than four different characters.
 */
export function passwordFault(
  password: string,
  { email, limits }: { email: string; limits: PeopleLimits },
): PasswordFault | null {
  const text = password.normalize('NFKC')
  if ([...text].length < limits.passwordCharactersMin) return 'too_short'
  if (isTooLong(text, limits)) return 'too_long'
  const plain = text.toLowerCase()
  const address = email.trim().toLowerCase()
  const easy = COMMON.has(plain) || new Set(plain).size < 4 || plain === address || plain === address.split('@')[0]
  return easy ? 'too_common' : null
}

/** Whether the password is longer than any accepted password, so that there is no point in hashing it. */
export function isTooLong(password: string, limits: PeopleLimits): boolean {
  return Buffer.byteLength(password.normalize('NFKC')) > limits.passwordBytesMax
}
