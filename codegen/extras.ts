/**
 * Reads how extras are treated: request fields and provider-run tools that cost more than tokens. catalogue.yaml defines the
 * extras (the vocabulary) and their defaults. Upstreams, families, models, entries and targets may override them, and the most
 * specific of these layers wins (see `layers.ts`).
 */

import type { ExtrasVocabulary } from '../src/generated/types.ts'
import type { ExtrasFacts } from './generated/types.ts'
import { NOTHING, type Said } from './layers.ts'

/** Returns the default treatment of every extra, in the vocabulary's order. */
export function extrasByDefault({ fields, tools }: ExtrasVocabulary): Said {
  return new Map([
    ['fields', defaultsOf(fields)],
    ['tools', defaultsOf(tools)],
  ])
}

/** Returns the treatments that a layer states, in the vocabulary's order. Extras that are not in the vocabulary are ignored. */
export function saidExtras(vocabulary: ExtrasVocabulary, facts: ExtrasFacts | undefined): Said {
  if (facts === undefined) return NOTHING
  const said = new Map<string, Said>()
  for (const kind of ['fields', 'tools'] as const) {
    const treatments: Readonly<Record<string, unknown>> = facts[kind] ?? {}
    const names = Object.keys(vocabulary[kind]).filter(name => Object.hasOwn(treatments, name))
    if (names.length > 0) said.set(kind, new Map(names.map(name => [name, treatments[name]])))
  }
  return said
}

function defaultsOf(extras: Readonly<Record<string, { readonly otherwise: string }>>): Said {
  return new Map(Object.entries(extras).map(([name, { otherwise }]) => [name, otherwise]))
}
