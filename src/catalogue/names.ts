/**
 * Resolves the names that clients send: ids, aliases and `vendor/name`, in upper or lower case, with or without the long-context
 * suffix.
 */

import type { ModelEntry } from '../generated/types.ts'
import type { CatalogueItem } from './item.ts'

export interface Resolution {
  readonly item: CatalogueItem
  readonly entry: ModelEntry
  /** The name that the client sent, if it differs from the entry's own; otherwise null. */
  readonly mappedFrom: string | null
  /**
   * The model name to use in replies. If the client sent the entry's own name, its spelling is kept (`GPT-5.5`,
   * `openai/gpt-5.5`); for any other name, this is the entry's id. Always printable ASCII.
   */
  readonly clientModel: string
}

/** What a name resolves to, now and after its entry has retired. */
export interface Named {
  readonly item: CatalogueItem
  readonly resolution: Resolution
  /** What the name resolves to once the entry has retired; null if the entry has no successor. */
  readonly afterRetirement: Resolution | null
}

export interface NameIndexOptions {
  readonly items: readonly CatalogueItem[]
  readonly aliases: Iterable<readonly [string, CatalogueItem]>
  /** Maps other names that clients use for vendors, in lower case, to the vendors. */
  readonly vendors: Readonly<Record<string, string>>
  /** Returns the entry's successor; null if it has none. */
  readonly successorOf: (item: CatalogueItem) => CatalogueItem | null
}

/** Suffix with which coding agents ask for the long context. It changes nothing: every entry always offers its full context. */
const LONG_CONTEXT_SUFFIX = '[1m]'

const PRINTABLE_ASCII = /^[\x21-\x7e]+$/

/**
 * Returns a look-up function, which yields null for an unknown name. It allocates nothing for a name spelled as in the catalogue,
 * and rejects a name longer than any known one without looking at it.
 */
export function createNameIndex(options: NameIndexOptions): (name: string) => Named | null {
  const { items, aliases, successorOf } = options
  const named = new Map<string, Named & { readonly isOwnName: boolean }>()
  const add = (name: string, item: CatalogueItem, isOwnName: boolean) => {
    for (const base of new Set([name, name.toLowerCase()])) {
      for (const spelling of [base, base + LONG_CONTEXT_SUFFIX]) {
        named.set(spelling, { ...namedAs(spelling, item.entry.id, item, { isOwnName, successorOf }), isOwnName })
      }
    }
  }
  for (const [alias, item] of aliases) add(alias, item, false)
  for (const item of items) add(item.entry.id, item, true)
  const vendors = new Map([
    ...Object.entries(options.vendors),
    ...items.map(({ entry }): [string, string] => [entry.vendor, entry.vendor]),
  ])
  const lengthMax = longest(named.keys()) + 1 + longest(vendors.keys())

  /** Looks up `vendor/name`, where `name` must be a model of that vendor. */
  const ofVendor = (name: string) => {
    const slash = name.indexOf('/')
    const vendor = vendors.get(name.slice(0, Math.max(slash, 0)))
    const found = vendor === undefined ? undefined : named.get(name.slice(slash + 1))
    return found?.item.entry.vendor === vendor ? found : undefined
  }

  return name => {
    const exact = named.get(name)
    if (exact !== undefined) return exact
    if (name.length > lengthMax || !PRINTABLE_ASCII.test(name)) return null
    const lower = name.toLowerCase()
    const found = named.get(lower) ?? ofVendor(lower)
    if (found === undefined) return null
    const spelled = lower.endsWith(LONG_CONTEXT_SUFFIX) ? name.slice(0, -LONG_CONTEXT_SUFFIX.length) : name
    return namedAs(name, spelled, found.item, { isOwnName: found.isOwnName, successorOf })
  }
}

function namedAs(
  name: string,
  ownName: string,
  item: CatalogueItem,
  { isOwnName, successorOf }: Pick<NameIndexOptions, 'successorOf'> & { readonly isOwnName: boolean },
): Named {
  const successor = successorOf(item)
  const { entry } = item
  return {
    item,
    resolution: isOwnName
      ? { item, entry, mappedFrom: null, clientModel: ownName }
      : { item, entry, mappedFrom: name, clientModel: entry.id },
    afterRetirement: successor && {
      item: successor,
      entry: successor.entry,
      mappedFrom: name,
      clientModel: successor.entry.id,
    },
  }
}

function longest(texts: Iterable<string>): number {
  let length = 0
  for (const text of texts) length = Math.max(length, text.length)
  return length
}
