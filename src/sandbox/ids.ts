/** Random ids in the providers' formats. */

import { randomBytes } from 'node:crypto'

/** `prefix`, then 24 random hexadecimal digits. */
export function newId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex')
}
