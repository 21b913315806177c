/** The items that an upstream has told of, found again by whatever an event or the final output calls them. */

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

  /** An item may get further ids, or other ones, when it is complete. */
  name(known: KnownItem, item: JsonObject): void {
    for (const id of idsOf(item)) this.#byId.set(id, known)
  }

  /** The item that an event means: by its id, else by its place, because hosts change the one or do not count the other. */
  ofEvent({ item_id, output_index }: JsonObject): KnownItem | null {
    return this.#named({ id: item_id ?? null }) ?? this.#byIndex.get(output_index ?? null) ?? null
  }

  /** The same for an event with an item. One that is done is another one, unless it has the same id. */
  ofItem(item: JsonObject, outputIndex: JsonValue | undefined): KnownItem | null {
    const named = this.#named(item)
    if (named !== undefined) return named
    const placed = this.#byIndex.get(outputIndex ?? null)
    return placed !== undefined && placed.type === item.type && !placed.isDone ? placed : null
  }

  /**
   * Items of the final output with those that were told: by their ids, because places may have gaps. Some hosts give them
   * new ids there, so those that are left on both sides are paired by their type, in order.
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

  /** Items whose end was never told. */
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
