/** Decides what happens to each extra at a target: the last layer that mentions it wins, else the vocabulary's default. */

import type { ExtrasVocabulary } from '../src/generated/types.ts'
import type { ExtrasFacts } from './generated/types.ts'
import { NOTHING, type Said } from './layers.ts'

/** The default treatment of every word, in the vocabulary's order. */
export function extrasByDefault({ fields, tools }: ExtrasVocabulary): Said {
  return new Map([
    ['fields', otherwise(fields)],
    ['tools', otherwise(tools)],
  ])
}

/** The treatments that `facts` states for words of the vocabulary, in the vocabulary's order. */
export function saidExtras(vocabulary: ExtrasVocabulary, facts: ExtrasFacts | undefined): Said {
  if (facts === undefined) return NOTHING
  const said = new Map<string, Said>()
  for (const kind of ['fields', 'tools'] as const) {
    const treatments: Readonly<Record<string, unknown>> = facts[kind] ?? {}
    const words = Object.keys(vocabulary[kind]).filter(word => Object.hasOwn(treatments, word))
    if (words.length > 0) said.set(kind, new Map(words.map(word => [word, treatments[word]])))
  }
  return said
}

function otherwise(words: Readonly<Record<string, { readonly otherwise: string }>>): Said {
  return new Map(Object.entries(words).map(([word, rule]) => [word, rule.otherwise]))
}
