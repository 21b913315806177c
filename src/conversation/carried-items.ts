/**
 * Items of the responses format that travel in an id. Clients that take the service for one which keeps responses send
 * references to items instead of the items (AI SDK with its defaults: texts and reasoning; @ai-sdk/openai 4.0.118, read
 * 2026-11-22). Nothing is kept here, so the ids that they send back hold what they stand for: compressed, and marked for
 * the account that got them.
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, parseJson, textOrNull } from '../lib/json.ts'
import { refuse } from './refuse.ts'

/** Longest id, in characters. It comes back with every later request of its conversation. */
export const CARRYING_ID_LENGTH_MAX = 64 * 1024
/** Longest JSON that is compressed, in characters: what is longer never becomes short enough. */
const JSON_LENGTH_MAX = 512 * 1024
/** Longest JSON that an id may hold, in bytes. */
const JSON_BYTES_MAX = 4 * 1024 * 1024

/** Makes a mark that opens for the same account only. */
export type Mark = (payload: JsonValue) => string
export type OpenMark = (text: string) => JsonValue | null

/** An id that carries these items, each with the id that it has; null when it would be too long. */
export function carryingId(prefix: string, items: readonly JsonObject[], mark: Mark): string | null {
  return idOf(prefix, items, { mark })
}

/** An id for this item, which it carries; another one for the same item under another id. Null when it would be too long. */
export function selfCarryingId(prefix: string, { id = '', ...item }: JsonObject, mark: Mark): string | null {
  return idOf(prefix, [item], { mark, own: id })
}

interface Marking {
  readonly mark: Mark
  /** Makes the id differ from those of items that say the same. */
  readonly own?: JsonValue
}

function idOf(prefix: string, items: readonly JsonObject[], { mark, own }: Marking): string | null {
  const json = JSON.stringify(items)
  if (json.length > JSON_LENGTH_MAX) return null
  const deflated = deflateRawSync(json).toString('base64url')
  const id = prefix + mark({ kind: 'items', deflated, ...(own !== undefined && { own }) })
  return id.length > CARRYING_ID_LENGTH_MAX ? null : id
}

/** What an id carries; empty for one that carries nothing, or was not made here for this account. */
export function itemsCarriedBy(id: string, openMark: OpenMark): readonly JsonObject[] {
  if (id.length > CARRYING_ID_LENGTH_MAX) return []
  const payload = openMark(id.slice(id.indexOf('_') + 1))
  const deflated = isObject(payload) && payload.kind === 'items' ? textOrNull(payload.deflated) : null
  if (deflated === null) return []
  try {
    const json = inflateRawSync(Buffer.from(deflated, 'base64url'), { maxOutputLength: JSON_BYTES_MAX })
    return arrayOrEmpty(parseJson(json.toString('utf8'))).filter(isObject)
  } catch {
    return []
  }
}

/** What a reference stands for that nobody can resolve. Throws GatewayError `invalid_request` for what would be missed. */
export function unresolvedItems(id: string, place: string): readonly never[] {
  // A conversation may lack reasoning: where an id had no room for it, or another service keeps it.
  if (id.startsWith('rs_')) return []
  return refuse(
    place,
    'item_reference cannot be resolved, because this service stores no responses. Send the items themselves (set store to ' +
      'false in your client).',
  )
}

/** Resolves the references of one request: by their own ids, and by the ids that carry items for others. */
export class CarriedItems {
  readonly #openMark: OpenMark
  readonly #items = new Map<string, JsonObject>()
  readonly #carriers = new Set<string>()

  /** `ids`: of all references of the request; the ones that carry others' items may stand behind these. */
  constructor(ids: Iterable<string>, openMark: OpenMark) {
    this.#openMark = openMark
    for (const id of ids) this.#read(id)
  }

  /** What a reference stands for: an item, or nothing for an id that carries items for others. Null for one not known. */
  resolve(id: string): readonly JsonObject[] | null {
    const item = this.#items.get(id)
    if (item !== undefined) return [item]
    return this.#carriers.has(id) ? [] : null
  }

  #read(id: string): void {
    for (const item of itemsCarriedBy(id, this.#openMark)) {
      const own = textOrNull(item.id)
      if (own !== null) this.#carriers.add(id)
      this.#items.set(own ?? id, item)
    }
  }
}
