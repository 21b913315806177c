/** Remembers responses for `previous_response_id`, within bounds; one for each sandbox. */

import type { JsonObject } from '../json.ts'

const LIMITS = { responses: 256, itemCharacters: 500_000 } as const

export class ResponseMemory {
  readonly #items = new Map<string, readonly JsonObject[]>()

  /** Input and output of a response; too large ones are not kept, and the oldest makes room. */
  keep(id: string, items: readonly JsonObject[]): void {
    if (JSON.stringify(items).length > LIMITS.itemCharacters) return
    this.#items.set(id, items)
    const oldest = this.#items.keys().next().value
    if (this.#items.size > LIMITS.responses && oldest !== undefined) this.#items.delete(oldest)
  }

  recall(id: string): readonly JsonObject[] | null {
    return this.#items.get(id) ?? null
  }
}
