/**
 * Reads how extras are treated: request fields and provider-run tools that cost more than tokens. catalogue.yaml defines the
 * extras (the vocabulary) and their defaults. Upstreams, families, models, entries and targets may override them, and the most
 * specific of these layers wins (see `layers.ts`).
 */

import type { ExtrasVocabulary } from '../src/generated/types.ts'
import type { ExtrasFacts } from './generated/types.ts'
import { NO_FACTS, type StatedFacts } from './layers.ts'

/** Returns the default treatment of every extra, in the vocabulary's order. */
export function extrasByDefault({ fields, tools }: ExtrasVocabulary): StatedFacts {
  return new Map([
    ['fields', defaultsOf(fields)],
    ['tools', defaultsOf(tools)],
  ])
}

/** Returns the treatments that a layer states, in the vocabulary's order. Extras that are not in the vocabulary are ignored. */
export function statedExtras(vocabulary: ExtrasVocabulary, facts: ExtrasFacts | undefined): StatedFacts {
  if (facts === undefined) return NO_FACTS
  const stated = new Map<string, StatedFacts>()
  for (const kind of ['fields', 'tools'] as const) {
    const treatments: Readonly<Record<string, unknown>> = facts[kind] ?? {}
    const names = Object.keys(vocabulary[kind]).filter(name => Object.hasOwn(treatments, name))
    if (names.length > 0) stated.set(kind, new Map(names.map(name => [name, treatments[name]])))
  }
  return stated
}

function defaultsOf(extras: Readonly<Record<string, { readonly otherwise: string }>>): StatedFacts {
  return new Map(Object.entries(extras).map(([name, { otherwise }]) => [name, otherwise]))
}
