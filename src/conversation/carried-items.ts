/**
 * Items of the responses format that travel inside an id. Clients that expect responses to be stored refer to items by
 * id instead of sending them (the AI SDK by default, for text and reasoning; @ai-sdk/openai 4.0.118, read 2026-11-22).
 * This service stores nothing, so the ids it issues contain the item itself: compressed if it is long, and sealed for
 * the account that got it.
 */

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import {
  ascii,
  type ByteText,
  concat,
  encodeText,
  joinBytes,
  NO_BYTES,
  ofCharacters,
  toBuffer,
} from '../lib/byte-text.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, parseJson, textOrNull } from '../lib/json.ts'
import { refuse } from './refuse.ts'

/** Longest id, in characters. Every later request of the conversation sends it back. */
export const CARRYING_ID_LENGTH_MAX = 64 * 1024
/** Largest JSON left uncompressed, in bytes: compressing it would take longer than everything else done with it. */
const PLAIN_BYTES_MAX = 4 * 1024
/** Four times as fast as the default level; the result is 15 % longer. */
const QUICKLY = { level: constants.Z_BEST_SPEED }
/** Largest JSON to compress, in bytes; longer text would never fit into an id. */
const ITEMS_BYTES_MAX = 512 * 1024
/** Largest JSON that an id may expand to, in bytes. */
const JSON_BYTES_MAX = 4 * 1024 * 1024

/** Seals a payload, given as JSON, so that only requests of the same account can open it. */
export type Mark = (json: ByteText) => string
export type OpenMark = (text: string) => JsonValue | null

/** An id that carries these items, serialized, each with its own id; null if it would be too long. */
export function carryingId(prefix: string, items: readonly ByteText[], mark: Mark): string | null {
  return idOf(prefix, joinBytes(items, ','), { mark })
}

/**
 * An id that carries this very item. Equal items with different ids get different results. Null if it would be too
 * long.
 */
export function selfCarryingId(prefix: string, { id = '', ...item }: JsonObject, mark: Mark): string | null {
  return idOf(prefix, encodeText(JSON.stringify(item)), { mark, own: id })
}

interface Marking {
  readonly mark: Mark
  /** Distinguishes this id from those of items with equal content. */
  readonly own?: JsonValue
}

/** `items`: the items as JSON, separated by commas. */
function idOf(prefix: string, items: ByteText, { mark, own }: Marking): string | null {
  if (items.length > ITEMS_BYTES_MAX) return null
  const list = concat(ascii('['), items, ascii(']'))
  const content = items.length <= PLAIN_BYTES_MAX ? concat(ascii('"items":'), list) : deflated(list)
  const distinct = own === undefined ? NO_BYTES : encodeText(`,"own":${JSON.stringify(own)}`)
  const id = prefix + mark(concat(ascii('{"kind":"items",'), content, distinct, ascii('}')))
  return id.length > CARRYING_ID_LENGTH_MAX ? null : id
}

function deflated(list: ByteText): ByteText {
  return ofCharacters(`"deflated":"${deflateRawSync(toBuffer(list), QUICKLY).toString('base64url')}"`)
}

/** The items that an id carries; empty if it carries none, or was not issued by this gateway for this account. */
export function itemsCarriedBy(id: string, openMark: OpenMark): readonly JsonObject[] {
  if (id.length > CARRYING_ID_LENGTH_MAX) return []
  const payload = openMark(id.slice(id.indexOf('_') + 1))
  if (!isObject(payload) || payload.kind !== 'items') return []
  if (Array.isArray(payload.items)) return payload.items.filter(isObject)
  const deflated = textOrNull(payload.deflated)
  if (deflated === null) return []
  try {
    const json = inflateRawSync(Buffer.from(deflated, 'base64url'), { maxOutputLength: JSON_BYTES_MAX })
    return arrayOrEmpty(parseJson(json.toString('utf8'))).filter(isObject)
  } catch {
    return []
  }
}

/**
 * Leaves out a reference that cannot be resolved. Throws GatewayError `invalid_request` if its item may not be missing.
 */
export function unresolvedItems(id: string, place: string): readonly never[] {
  // Reasoning may be missing from a conversation: it did not fit into an id, or another service stores it.
  if (id.startsWith('rs_')) return []
  return refuse(
    place,
    'item_reference cannot be resolved, because this service stores no responses. Send the items themselves (set store to ' +
      'false in your client).',
  )
}

/** Resolves the references of one request, both ids that carry their own item and ids carried by other ids. */
export class CarriedItems {
  readonly #openMark: OpenMark
  readonly #items = new Map<string, JsonObject>()
  readonly #carriers = new Set<string>()

  /** `ids`: every reference of the request, because a later id may carry the item of an earlier one. */
  constructor(ids: Iterable<string>, openMark: OpenMark) {
    this.#openMark = openMark
    for (const id of ids) this.#read(id)
  }

  /** The item referred to; empty for an id that only carries items of other ids; null for an unknown id. */
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
