/** Where people go after signing in. */

import type { Session } from '../../accounts/types.ts'
import { localPath } from '../guard.ts'

/** The page that they wanted, or else their start page. */
export function landing(next: string, { role }: Pick<Session, 'role'>): string {
  const path = localPath(next)
  return path === '/overview' && role !== null ? '/operator' : path
}
