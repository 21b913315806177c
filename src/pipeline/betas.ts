/** The beta flags of the messages format, as a header. */

import type { HeaderMap } from './call.ts'

const BETA_HEADER = 'anthropic-beta'
/** Flags that are read of one header. */
const BETAS_MAX = 64

/** The client's flags, in order. */
export function readBetas(header: (name: string) => string | undefined): string[] {
  const value = header(BETA_HEADER) ?? ''
  return value
    .split(',', BETAS_MAX)
    .map(beta => beta.trim())
    .filter(beta => /^[\x21-\x7e]+$/.test(beta))
}

export function betaHeaders(betas: readonly string[]): HeaderMap {
  return betas.length === 0 ? {} : { [BETA_HEADER]: betas.join(',') }
}
