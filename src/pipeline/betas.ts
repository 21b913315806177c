/** The beta flags of the messages format, as the client's header lists them. */

const BETA_HEADER = 'anthropic-beta'
/** Most flags read from one header. */
const BETAS_MAX = 64

/** The client's flags, in order. */
export function readBetas(header: (name: string) => string | undefined): string[] {
  const value = header(BETA_HEADER)
  if (value === undefined) return []
  return value
    .split(',', BETAS_MAX)
    .map(beta => beta.trim())
    .filter(beta => /^[\x21-\x7e]+$/.test(beta))
}
