/** Removes beta flags that switch on extras: request fields and provider-run tools that cost more than tokens. */

import { fits } from '../../conversation/patterns.ts'
import type { Extras, ExtrasVocabulary } from '../../generated/types.ts'

/** Removes the beta flags of all extras that the target leaves out or refuses. */
export function withoutExtras(
  betas: readonly string[],
  vocabulary: ExtrasVocabulary,
  extras: Extras,
): readonly string[] {
  if (betas.length === 0) return betas
  const closed = [...closedBetas(vocabulary.fields, extras.fields), ...closedBetas(vocabulary.tools, extras.tools)]
  return betas.filter(beta => !closed.some(pattern => fits(beta, pattern)))
}

function closedBetas(
  words: Readonly<Record<string, { readonly betas?: readonly string[]; readonly otherwise: string }>>,
  treatments: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(words).flatMap(([word, { betas = [], otherwise }]) => {
    const treatment = treatments[word] ?? otherwise
    return treatment === 'leave_out' || treatment === 'refuse' ? betas : []
  })
}
