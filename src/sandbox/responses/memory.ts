/** Remembers a limited number of responses for `previous_response_id`, and their items for `item_reference`. */

import type { JsonObject } from '../json.ts'

const LIMITS = { responses: 256, items: 2_048, itemCharacters: 500_000 } as const

export class ResponseMemory {
  readonly #responses = new Map<string, readonly JsonObject[]>()
  readonly #items = new Map<string, JsonObject>()

  /** Stores a response's input and output. Large responses are not stored, and the oldest are evicted. */
  keep(id: string, before: readonly JsonObject[], output: readonly JsonObject[]): void {
    const items = [...before, ...output]
    if (JSON.stringify(items).length > LIMITS.itemCharacters) return
    this.#responses.set(id, items)
    for (const item of output) this.#items.set(String(item.id), item)
    trim(this.#responses, LIMITS.responses)
    trim(this.#items, LIMITS.items)
  }

  recall(id: string): readonly JsonObject[] | null {
    return this.#responses.get(id) ?? null
  }

  recallItem(id: string): JsonObject | null {
    return this.#items.get(id) ?? null
  }
}

function trim(map: Map<string, unknown>, sizeMax: number): void {
  for (const key of map.keys()) {
    if (map.size <= sizeMax) return
    map.delete(key)
  }
}
