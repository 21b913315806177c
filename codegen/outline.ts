/** How the tables are put together: families with their models and entries, each with the facts stated at that level. */

import type { Dialect, Extras, ModelEntry, Rule, UpstreamTarget } from '../src/generated/types.ts'
import type { CatalogueFile, FamilyFile, UpstreamsFile } from './generated/types.ts'
import type { Layer, LayerTree, Said } from './layers.ts'
import type { UpstreamDefaults } from './resolve-upstream.ts'

/** Sources that passed the schema and the checks. */
export interface CheckedSources {
  readonly catalogue: CatalogueFile
  readonly upstreams: UpstreamsFile
  readonly families: readonly FamilyFile[]
}

/** Facts of an entry, as stated in one place of the catalogue. */
export type EntryFactsStated = Readonly<Partial<ModelEntry>>

export interface Outline {
  readonly defaults: {
    readonly entry: EntryFactsStated
    readonly upstream: UpstreamDefaults
    readonly dialect: Said
    readonly extras: Said
  }
  readonly dialects: LayerTree<Dialect>
  readonly extras: LayerTree<Extras>
  readonly rules: LayerTree<readonly Rule[]>
  /** The layer that applies to all entries priced per call. */
  readonly perCall: Layer
  /** One layer for each upstream: what the upstream's API adds to the facts of every model behind it. */
  readonly hosts: readonly Layer[]
  /** The families, sorted by name, as the files are. */
  readonly families: readonly FamilyOutline[]
}

export interface FamilyOutline {
  readonly name: string
  readonly stated: EntryFactsStated
  readonly layer: Layer
  /**
   * One target for each upstream of the family: what all targets there have in common, before any model's facts. `model` is
   * empty.
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
  /** What the entry itself states, with its targets. */
  readonly stated: EntryFactsStated & Pick<ModelEntry, 'id' | 'upstreams'>
  readonly entry: ModelEntry
}
