/** Tracks the items of an upstream's response. Finds them by id or by index in the output. */

import { type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'
import type { ItemReader } from './read-items.ts'

export interface KnownItem {
  readonly type: string
  readonly reader: ItemReader
  isDone: boolean
}

export class KnownItems {
  readonly #all: KnownItem[] = []
  readonly #byIndex = new Map<JsonValue, KnownItem>()
  readonly #byId = new Map<string, KnownItem>()

  add(known: KnownItem, item: JsonObject, outputIndex: JsonValue | undefined): void {
    this.#all.push(known)
    if (typeof outputIndex === 'number') this.#byIndex.set(outputIndex, known)
    this.name(known, item)
  }

  /** Records the ids of a complete item. They may differ from the ids in the item's earlier events. */
  name(known: KnownItem, item: JsonObject): void {
    for (const id of idsOf(item)) this.#byId.set(id, known)
  }

  /** Finds the item that an event is about: by id, otherwise by index. Some hosts change ids, and others miscount indexes. */
  ofEvent({ item_id, output_index }: JsonObject): KnownItem | null {
    return this.#named({ id: item_id ?? null }) ?? this.#byIndex.get(output_index ?? null) ?? null
  }

  /**
   * Finds the known item that matches the item in an event: by id, otherwise by index. A match by index only counts if the
   * known item has the same type and is not done yet.
   */
  ofItem(item: JsonObject, outputIndex: JsonValue | undefined): KnownItem | null {
    const named = this.#named(item)
    if (named !== undefined) return named
    const placed = this.#byIndex.get(outputIndex ?? null)
    return placed !== undefined && placed.type === item.type && !placed.isDone ? placed : null
  }

  /**
   * Matches each item of the final output with a known item. Items are matched by id, because indexes may have gaps. Some hosts
   * assign new ids in the final output, so the remaining items are matched by type, in order.
   */
  pair(output: readonly JsonObject[]): [JsonObject, KnownItem | null][] {
    const named = output.map(item => this.#named(item) ?? null)
    const taken = new Set(named)
    const left = Map.groupBy(
      this.#all.filter(known => !taken.has(known)),
      ({ type }) => type,
    )
    const next = ({ type }: JsonObject) => left.get(textOrNull(type) ?? '')?.shift() ?? null
    return output.map((item, index) => [item, named[index] ?? next(item)])
  }

  /** Returns the items that were never reported as done. */
  unfinished(): KnownItem[] {
    return this.#all.filter(({ isDone }) => !isDone)
  }

  #named(item: JsonObject): KnownItem | undefined {
    for (const id of idsOf(item)) {
      const known = this.#byId.get(id)
      if (known !== undefined) return known
    }
    return undefined
  }
}

function idsOf({ id, call_id }: JsonObject): string[] {
  return [textOrNull(id), textOrNull(call_id)].filter(each => each !== null)
}
