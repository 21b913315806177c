/**
 * The catalogue as the generated source is laid out: families with their models and entries, each with the facts that the
 * catalogue states at that level.
 */

import type { Dialect, Extras, ModelEntry, Rule, UpstreamTarget } from '../src/generated/types.ts'
import type { CatalogueFile, FamilyFile, UpstreamsFile } from './generated/types.ts'
import type { Layer, LayerTree, StatedFacts } from './layers.ts'
import type { UpstreamDefaults } from './resolve-upstream.ts'

/** Catalogue files that passed the schema and the checks. */
export interface CheckedSources {
  readonly catalogue: CatalogueFile
  readonly upstreams: UpstreamsFile
  readonly families: readonly FamilyFile[]
}

/** The facts that one level of the catalogue (defaults, family, model or entry) states about entries. */
export type EntryFactsStated = Readonly<Partial<ModelEntry>>

export interface Outline {
  readonly defaults: {
    readonly entry: EntryFactsStated
    readonly upstream: UpstreamDefaults
    readonly dialect: StatedFacts
    readonly extras: StatedFacts
  }
  readonly dialects: LayerTree<Dialect>
  readonly extras: LayerTree<Extras>
  readonly rules: LayerTree<readonly Rule[]>
  /** The layer that applies to all entries priced per call. */
  readonly perCall: Layer
  /** One layer per upstream, with facts about the upstream's API that hold for every model behind it. */
  readonly hosts: readonly Layer[]
  /** Sorted by name. */
  readonly families: readonly FamilyOutline[]
}

export interface FamilyOutline {
  readonly name: string
  readonly stated: EntryFactsStated
  readonly layer: Layer
  /**
   * For each upstream that the family uses, a target without a model, built from the family's and the upstream's facts. In the
   * generated source, the family's targets at that upstream spread it.
   */
  readonly shared: readonly UpstreamTarget[]
  readonly models: readonly ModelOutline[]
}

export interface ModelOutline {
  readonly name: string
  readonly stated: EntryFactsStated
  readonly layer: Layer
  /** Facts that all targets of the model share. */
  readonly shared: Readonly<Partial<Pick<UpstreamTarget, 'cost'>>>
  readonly entries: readonly EntryOutline[]
}

export interface EntryOutline {
  /** The facts that the entry itself states, and its targets. */
  readonly stated: EntryFactsStated & Pick<ModelEntry, 'id' | 'upstreams'>
  readonly entry: ModelEntry
}
