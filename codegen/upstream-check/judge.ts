/**
 * Compares the catalogue with a provider's model list: finds models that the provider no longer lists or will shut down. Does
 * no I/O.
 */

import type { Tables } from '../../src/generated/types.ts'
import type { ListedModel } from '../../src/upstream/list-models.ts'
import { compareText } from '../findings.ts'

/**
 * missing: the provider does not list the model. ended: already shut down. unannounced: will be shut down, but the catalogue does
 * not say so. differs: the catalogue has a different date for an entry. null: nothing is wrong.
 */
export type Finding = 'missing' | 'ended' | 'unannounced' | 'differs' | null

export interface ModelJudgement {
  /** The upstream's name for the model. */
  readonly model: string
  readonly finding: Finding
  /** The dated id in the provider's list (`model-20251001`) if `model` itself is not listed; else null. */
  readonly listedAs: string | null
  /** ISO date on which the provider shuts the model down; null if none is known. */
  readonly shutdownOn: string | null
  /** The catalogue entries that this model serves, with their retirement dates. */
  readonly entries: readonly { readonly id: string; readonly retiresOn: string | null }[]
}

/** Judges every model that entries use at the upstream, sorted by model. `today` is an ISO date. */
export function judgeUpstream(
  tables: Tables,
  upstreamId: string,
  listed: readonly ListedModel[],
  today: string,
): readonly ModelJudgement[] {
  const byId = new Map(listed.map(model => [model.id, model]))
  return [...modelsAt(tables, upstreamId)].map(([model, entries]) => {
    const found = byId.get(model) ?? listed.find(({ id }) => isDated(id, model))
    const shutdownOn = found?.shutdownOn ?? null
    const listedAs = found === undefined || found.id === model ? null : found.id
    return { model, finding: findingOf(found, entries, today), listedAs, shutdownOn, entries }
  })
}

type Entries = ModelJudgement['entries']

function findingOf(found: ListedModel | undefined, entries: Entries, today: string): Finding {
  if (found === undefined) return 'missing'
  const { shutdownOn } = found
  if (shutdownOn === null) return null
  if (shutdownOn <= today) return 'ended'
  if (entries.some(({ retiresOn }) => retiresOn === null)) return 'unannounced'
  return entries.every(({ retiresOn }) => retiresOn === shutdownOn) ? null : 'differs'
}

function modelsAt({ entries }: Tables, upstreamId: string): ReadonlyMap<string, Entries> {
  const targets = entries.flatMap(({ id, deprecated, upstreams }) =>
    upstreams
      .filter(({ via }) => via === upstreamId)
      .map(({ model }) => ({ model, entry: { id, retiresOn: deprecated?.retiresOn ?? null } })),
  )
  const sorted = targets.toSorted((a, b) => compareText(a.model, b.model) || compareText(a.entry.id, b.entry.id))
  const byModel = Map.groupBy(sorted, ({ model }) => model)
  return new Map([...byModel].map(([model, each]) => [model, each.map(({ entry }) => entry)]))
}

/** Whether a listed id is the model's id with a release date appended: `model-20251001`, `model-2025-10-01`. */
function isDated(id: string, model: string): boolean {
  return id.startsWith(model) && /^-20\d{2}-?\d{2}-?\d{2}$/.test(id.slice(model.length))
}
