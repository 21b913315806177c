/** What the compiler needs from outside a family's file to resolve the family's entries. */

import type { Counting, Deprecation, Rule } from '../src/generated/types.ts'
import type { CountingFacts, DefaultFacts, DialectFacts, ExtrasFacts } from './generated/types.ts'
import type { Layer } from './layers.ts'
import type { CheckedSources, Outline } from './outline.ts'

export interface EntryContext {
  readonly sources: CheckedSources
  readonly defaults: ReturnType<typeof entryDefaults>
  readonly aliasesOf: ReadonlyMap<string, readonly string[]>
  readonly layers: Pick<Outline, 'dialects' | 'extras' | 'rules'>
  readonly hosts: ReadonlyMap<string, Layer>
  /** The dialect facts that all entries priced per call share: one reply per call. */
  readonly perCall: Layer
  layer(kind: Layer['kind'], name: string, holder: LayerHolder): Layer
  /** How to count the tokens of a request beyond its text (pictures, tools), from the defaults and these layers. */
  counting(...layers: readonly (CountingFacts | undefined)[]): Counting
}

/** A part of the catalogue that can state facts about calls: a family, model, entry, upstream or target. */
export interface LayerHolder {
  readonly dialect?: DialectFacts
  readonly extras?: ExtrasFacts
  readonly rules?: readonly Rule[]
}

/** Reference images per edit if nothing is stated: as many as the gateway takes in one request. The schema repeats it. */
const REFERENCES_MAX = 16

/** Defaults for the facts that an entry does not state. */
export function entryDefaults(defaults: DefaultFacts, counting: Counting) {
  return {
    contextTokens: null as number | null,
    outputTokensMax: null as number | null,
    descriptionVi: null as string | null,
    releasedOn: null as string | null,
    holdOutputTokens: defaults.hold_output_tokens,
    imagesMax: defaults.images_max,
    referencesMax: REFERENCES_MAX,
    tokenFactor: defaults.token_factor,
    counting,
    aliases: [] as readonly string[],
    deprecated: null as Deprecation | null,
  }
}
