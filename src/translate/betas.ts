/** Beta flags of the messages format: which of the client's may go upstream. */

/** The client's flags that the dialect allows, in order and without repetition; `*` allows all. */
export function allowedBetas(betas: readonly string[], allowed: readonly string[]): string[] {
  const distinct = [...new Set(betas)]
  return allowed.includes('*') ? distinct : distinct.filter(beta => allowed.includes(beta))
}
