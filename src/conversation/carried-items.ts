/**
 * Carries items of the responses format inside ids. Clients that expect responses to be stored refer to items by id instead of
 * sending them. The AI SDK does so by default for text and reasoning (as of @ai-sdk/openai 4.0.118, 2026-11-22), and up to its
 * version 5 also for function calls (2.0.131, 2026-11-24). This service stores nothing, so the ids it issues contain the items
 * themselves, compressed if long, and signed for the receiving account.
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

/** Longest id, in characters. Bounded because every later request of the conversation repeats the id. */
export const CARRYING_ID_LENGTH_MAX = 64 * 1024
/**
 * Largest JSON left uncompressed, in bytes. For JSON this small, compression would take longer than everything else done with it.
 */
const PLAIN_BYTES_MAX = 4 * 1024
/** Z_BEST_SPEED is four times as fast as the default level; its output is 15 % longer. */
const QUICKLY = { level: constants.Z_BEST_SPEED }
/** Largest JSON to compress, in bytes. Anything longer would never fit into an id. */
const ITEMS_BYTES_MAX = 512 * 1024
/** Largest JSON that the ids of one request may expand to, in bytes: more than any model can read. */
const EXPANDED_BYTES_MAX = 8 * 1024 * 1024

/** Wraps a JSON payload in an envelope: a token that this gateway signs for one account (see `envelope.ts`). */
export type WrapJson = (json: ByteText) => string
/** Returns the payload of an envelope; null for any text that this gateway did not issue for the same account. */
export type OpenEnvelope = (text: string) => JsonValue | null

/** Returns an id that carries these serialized items, which include their own ids. Null if the result would be too long. */
export function carryingId(prefix: string, items: readonly ByteText[], wrapJson: WrapJson): string | null {
  return idOf(prefix, joinBytes(items, ','), { wrapJson })
}

/**
 * Returns an id for this item that carries the item itself. Equal items with different ids get different results. Null if the
 * result would be too long.
 */
export function selfCarryingId(prefix: string, { id = '', ...item }: JsonObject, wrapJson: WrapJson): string | null {
  return idOf(prefix, encodeText(JSON.stringify(item)), { wrapJson, own: id })
}

interface Wrapping {
  readonly wrapJson: WrapJson
  /** The item's original id, so that items with equal content get different ids. */
  readonly own?: JsonValue
}

/** `items`: comma-separated JSON of the items. */
function idOf(prefix: string, items: ByteText, { wrapJson, own }: Wrapping): string | null {
  if (items.length > ITEMS_BYTES_MAX) return null
  const list = concat(ascii('['), items, ascii(']'))
  const content = items.length <= PLAIN_BYTES_MAX ? concat(ascii('"items":'), list) : deflated(list)
  const distinct = own === undefined ? NO_BYTES : encodeText(`,"own":${JSON.stringify(own)}`)
  const id = prefix + wrapJson(concat(ascii('{"kind":"items",'), content, distinct, ascii('}')))
  return id.length > CARRYING_ID_LENGTH_MAX ? null : id
}

function deflated(list: ByteText): ByteText {
  return ofCharacters(`"deflated":"${deflateRawSync(toBuffer(list), QUICKLY).toString('base64url')}"`)
}

/** Reads the items that ids carry: each only once, however often a request repeats it. */
export class IdReader {
  readonly #openEnvelope: OpenEnvelope
  readonly #read = new Set<string>()
  #bytesLeft = EXPANDED_BYTES_MAX

  constructor(openEnvelope: OpenEnvelope) {
    this.#openEnvelope = openEnvelope
  }

  /**
   * Returns the items that the id carries. Empty if it carries none, was read before, or was not issued by this gateway for this
   * account. Throws GatewayError `invalid_request` if all ids together carry too much.
   */
  itemsOf(id: string): readonly JsonObject[] {
    if (id.length > CARRYING_ID_LENGTH_MAX) return []
    // Clients can change the prefix.
    const envelope = id.slice(id.indexOf('_') + 1)
    if (this.#read.has(envelope)) return []
    this.#read.add(envelope)
    const payload = this.#openEnvelope(envelope)
    if (!isObject(payload) || payload.kind !== 'items') return []
    if (Array.isArray(payload.items)) return payload.items.filter(isObject)
    const deflated = textOrNull(payload.deflated)
    return deflated === null ? [] : arrayOrEmpty(parseJson(this.#inflated(deflated))).filter(isObject)
  }

  #inflated(deflated: string): string {
    try {
      const json = inflateRawSync(Buffer.from(deflated, 'base64url'), { maxOutputLength: this.#bytesLeft })
      this.#bytesLeft -= json.length
      return json.toString('utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return ''
      return refuse('input', 'the items that it refers to are too long together. Send less.')
    }
  }
}

/**
 * Handles a reference that cannot be resolved: leaves out reasoning, and throws GatewayError `invalid_request` for any other
 * item.
 */
export function unresolvedItems(id: string, place: string): readonly never[] {
  // The reasoning was too long for an id, or another service has stored it. A conversation works without it.
  if (id.startsWith('rs_')) return []
  return refuse(
    place,
    'item_reference cannot be resolved, because this service stores no responses. Send the items themselves (set store to ' +
      'false in your client).',
  )
}

/** Resolves the item references of one request. The referenced item is in the id itself or in another of the request's ids. */
export class CarriedItems {
  readonly #items = new Map<string, JsonObject>()
  readonly #carriers = new Set<string>()

  /**
   * `ids`: all references in the request, because an id may carry the item that an earlier id refers to. Throws GatewayError
   * `invalid_request` if they carry too much.
   */
  constructor(ids: Iterable<string>, openEnvelope: OpenEnvelope) {
    const reader = new IdReader(openEnvelope)
    for (const id of ids) {
      for (const item of reader.itemsOf(id)) {
        const own = textOrNull(item.id)
        if (own !== null) this.#carriers.add(id)
        this.#items.set(own ?? id, item)
      }
    }
  }

  /**
   * Returns the item that the id refers to, but only the first time: providers refuse an item that is there twice. Empty from
   * then on, and for the empty reasoning item that a stream gets only to carry other items; null for an unknown id.
   */
  resolve(id: string): readonly JsonObject[] | null {
    const item = this.#items.get(id)
    if (item === undefined) return this.#carriers.has(id) ? [] : null
    this.#items.delete(id)
    this.#carriers.add(id)
    return [item]
  }
}
