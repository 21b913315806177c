/** Random ids in the providers' formats. */

import { randomBytes } from 'node:crypto'

/** `prefix` and 24 letters and digits. */
export function newId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex')
}
