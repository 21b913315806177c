/** The quick start's set-up instructions for each tool, with the reader's key and in the reader's language. */

import type { ModelEntry } from '../../../generated/types.ts'
import type { PageRequest } from '../../page.ts'
import { isTextKey, text } from '../../texts/index.ts'
import { dong } from '../../view/format.ts'
import { AGENTS } from './agents.ts'
import { APPS } from './apps.ts'
import { exampleModels } from './example-models.ts'
import { LIBRARIES } from './libraries.ts'
import type { Setup, Tool } from './types.ts'

export const GROUPS = [
  ['quickstart.group.agents', AGENTS],
  ['quickstart.group.libraries', LIBRARIES],
  ['quickstart.group.apps', APPS],
] as const

/** Shown instead of the key where none is known. */
export const KEY_PLACEHOLDER = '$KEY'

interface ReadersKey {
  readonly key: string
  /** The models that it may call; null for all. */
  readonly allowedModels: readonly string[] | null
}

const ANY_KEY: ReadersKey = { key: KEY_PLACEHOLDER, allowedModels: null }

/** The data for the template `partials/tools.hbs`. */
export function toolGroups(request: PageRequest, { key, allowedModels }: ReadersKey = ANY_KEY) {
  const { options } = request
  const setup: Setup = {
    base: options.publicUrl,
    key,
    brand: options.people.serviceName,
    models: exampleModels(options.catalogue, allowedModels),
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
