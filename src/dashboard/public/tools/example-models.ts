/** The models that snippets name: a capable one of each kind, whatever the catalogue contains and the key may call. */

import { allows } from '../../../catalogue/allowed.ts'
import type { Catalogue } from '../../../catalogue/catalogue.ts'
import type { ModelEntry, WireName } from '../../../generated/types.ts'
import type { ExampleModels } from './types.ts'

const DEFAULT_CONTEXT_TOKENS = 128_000

/** `allowed` are the models that the key may call; null for all. */
export function exampleModels(catalogue: Catalogue, allowed: readonly string[] | null): ExampleModels {
  const entries = catalogue.items.filter(item => !catalogue.isRetired(item)).map(({ entry }) => entry)
  const callable = entries.filter(entry => allows(catalogue, allowed, entry))
  const chats = callable.filter(({ kind }) => kind === 'chat')
  const usual = chats.filter(
    ({ price, channel, deprecated }) => price.per === 'mtok' && channel === 'standard' && deprecated === null,
  )
  // Longest context first, then newest.
  const byContext = (usual.length > 0 ? usual : chats).toSorted(
    (left, right) =>
      (right.contextTokens ?? 0) - (left.contextTokens ?? 0) ||
      (right.releasedOn ?? '').localeCompare(left.releasedOn ?? ''),
  )
  const byPrice = byContext.toSorted((left, right) => left.price.vnd - right.price.vnd)
  const { entry: fallback } = catalogue.fallback(catalogue.settings.fallback)
  const spare = allows(catalogue, allowed, fallback) ? fallback : (byContext[0] ?? fallback)
  const chat = byContext.find(({ apiStandard }) => apiStandard === 'chat_completions') ?? spare
  const ofKind = (kind: string) => callable.find(entry => entry.kind === kind)?.id ?? null
  return {
    messages: (byPrice.find(({ apiStandard }) => apiStandard === 'messages') ?? spare).id,
    chat: chat.id,
    responses: (byContext.find(entry => speaks(entry, 'responses')) ?? spare).id,
    cheap: (byPrice.find(({ capabilities }) => capabilities.includes('tools')) ?? spare).id,
    chatContextTokens: chat.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    image: ofKind('image'),
    speech: ofKind('speech'),
  }
}

function speaks({ upstreams }: ModelEntry, wire: WireName): boolean {
  return upstreams.some(({ wires = [] }) => wires.some(each => each.wire === wire))
}
