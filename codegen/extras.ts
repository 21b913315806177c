/** What happens to each extra at a target: as the last layer says that says anything, else as the vocabulary says. */

import type { Extras, ExtrasFacts, ExtrasVocabulary } from '../src/generated/types.ts'

/** Resolves layers, later ones first in rank; equal results are one object, so that the table names each once. */
export function extrasResolver(vocabulary: ExtrasVocabulary): (layers: readonly (ExtrasFacts | undefined)[]) => Extras {
  const known = new Map<string, Extras>()
  return layers => {
    const resolved: Extras = {
      fields: resolveWords(
        vocabulary.fields,
        layers.map(layer => layer?.fields),
      ),
      tools: resolveWords(
        vocabulary.tools,
        layers.map(layer => layer?.tools),
      ),
    }
    const key = JSON.stringify(resolved)
    const same = known.get(key)
    if (same !== undefined) return same
    known.set(key, resolved)
    return resolved
  }
}

/** Every word of the vocabulary, in its order. */
function resolveWords<Treatment>(
  words: Readonly<Record<string, { readonly otherwise: 'leave_out' | 'refuse' }>>,
  layers: readonly (Readonly<Record<string, Treatment>> | undefined)[],
): Readonly<Record<string, Treatment | 'leave_out' | 'refuse'>> {
  return Object.fromEntries(
    Object.entries(words).map(([word, { otherwise }]) => {
      const said = layers.map(layer => layer?.[word]).findLast(treatment => treatment !== undefined)
      return [word, said ?? otherwise]
    }),
  )
}
