/** Where people go after signing in. */

import type { Session } from '../../accounts/types.ts'
import { localPath } from '../guard.ts'

/** Returns the page that the person wanted before signing in, or else the start page for their role. */
export function landing(next: string, { role }: Pick<Session, 'role'>): string {
  const path = localPath(next)
  return path === '/overview' && role !== null ? '/operator' : path
}
