/** The quick start's set-up instructions for each tool, with the reader's key and in the reader's language. */

import type { CatalogueItem } from '../../../catalogue/catalogue.ts'
import type { ModelEntry, WireName } from '../../../generated/types.ts'
import type { PageRequest } from '../../page.ts'
import { isTextKey, text } from '../../texts/index.ts'
import { dong } from '../../view/format.ts'
import { AGENTS } from './agents.ts'
import { APPS } from './apps.ts'
import { LIBRARIES } from './libraries.ts'
import type { ExampleModels, Setup, Tool } from './types.ts'

export const GROUPS = [
  ['quickstart.group.agents', AGENTS],
  ['quickstart.group.libraries', LIBRARIES],
  ['quickstart.group.apps', APPS],
] as const

/** Shown instead of the key where none is known. */
export const KEY_PLACEHOLDER = '$KEY'

/** The data for the template `partials/tools.hbs`. */
export function toolGroups(request: PageRequest, key: string = KEY_PLACEHOLDER) {
  const { options } = request
  const setup: Setup = {
    base: options.publicUrl,
    key,
    brand: options.people.serviceName,
    models: exampleModels(request),
  }
  return GROUPS.map(([titleKey, tools]) => ({ titleKey, tools: tools.map(tool => toolView(request, tool, setup)) }))
}

function toolView(request: PageRequest, tool: Tool, setup: Setup) {
  const { language } = request
  const { id, name, note, values, blocks, fields } = tool
  return {
    id,
    name,
    note: note === undefined ? null : text(language, note, values?.(setup) ?? priceNotes(request, tool, setup)),
    blocks: (blocks?.(setup) ?? []).map(({ label, code }) => ({
      label: isTextKey(label) ? text(language, label) : label,
      lines: code,
    })),
    fields: (fields?.(setup) ?? []).map(([field, value]) => ({ field, value })),
  }
}

/** Values for the placeholders in the notes that warn of expensive defaults: each is a model's id with its price. */
function priceNotes(
  { options, language }: PageRequest,
  { smallModel = options.catalogue.settings.fallback }: Tool,
  { models }: Setup,
): Readonly<Record<string, string>> {
  const { catalogue } = options
  const found = (name: string) => (catalogue.resolve(name) ?? catalogue.fallback(name)).entry
  const priced = ({ id, price }: ModelEntry): string =>
    `\`${id}\` (${dong(price.vnd)} ${text(language, `usage.per_unit.${price.per}`)})`
  return {
    small: priced(found(smallModel)),
    cheap: priced(found(models.cheap)),
    fallback: priced(found(catalogue.settings.fallback)),
  }
}

/** Models that the snippets name: a capable one of each kind, whatever the catalogue contains. */
export function exampleModels({ options }: PageRequest): ExampleModels {
  const { catalogue } = options
  const items = catalogue.items.filter(item => !catalogue.isRetired(item))
  const suitable = items.filter(
    ({ entry }) =>
      entry.kind === 'chat' && entry.price.per === 'mtok' && entry.channel === 'standard' && entry.deprecated === null,
  )
  // Longest context first, then newest.
  const byContext = suitable.toSorted(
    ({ entry: left }, { entry: right }) =>
      (right.contextTokens ?? 0) - (left.contextTokens ?? 0) ||
      (right.releasedOn ?? '').localeCompare(left.releasedOn ?? ''),
  )
  const byPrice = byContext.toSorted((left, right) => left.entry.price.vnd - right.entry.price.vnd)
  const { entry: fallback } = catalogue.fallback(catalogue.settings.fallback)
  const cheap = byPrice.find(({ entry }) => entry.capabilities.includes('tools'))?.entry ?? fallback
  const chat = byContext.find(({ entry }) => entry.apiStandard === 'chat_completions')?.entry ?? fallback
  const idOf = (item: CatalogueItem | undefined): string => (item?.entry ?? fallback).id
  const ofKind = (kind: string) => items.find(({ entry }) => entry.kind === kind)?.entry.id ?? null
  return {
    messages: idOf(byPrice.find(({ entry }) => entry.apiStandard === 'messages')),
    chat: chat.id,
    responses: idOf(byContext.find(({ entry }) => speaks(entry, 'responses'))),
    cheap: cheap.id,
    chatContextTokens: chat.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    image: ofKind('image'),
    speech: ofKind('speech'),
  }
}

function speaks({ upstreams }: ModelEntry, wire: WireName): boolean {
  return upstreams.some(({ wires = [] }) => wires.some(each => each.wire === wire))
}

const DEFAULT_CONTEXT_TOKENS = 128_000
