/** Replaces how Node looks up names, also for modules that are loaded already. */

import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'

/** Returns what puts the original functions back. */
export function replaceDns(replacements: Partial<Pick<typeof dns, 'lookup' | 'Resolver'>>): () => void {
  const { lookup, Resolver } = dns
  const replace = (functions: object) => {
    Object.assign(dns, functions)
    syncBuiltinESMExports()
  }
  replace(replacements)
  return () => replace({ lookup, Resolver })
}
