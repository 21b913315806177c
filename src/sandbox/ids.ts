/** Random ids in the shapes that providers use. */

import { randomBytes } from 'node:crypto'

/** `prefix` and 24 letters and digits. */
export function newId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex')
}
