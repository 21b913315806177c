/**
 * Maps and sets whose entries come and go with calls. V8 links each table that a Map or Set has outgrown, or in which it has
 * deleted enough, to the next one. Once its garbage collector has moved one of these to the old generation, it keeps all later
 * tables, and what is in them, until it collects that generation too. So these collections move to a new Map or Set from time to
 * time, to which no former table is linked.
 */

/** A collection moves after this many deletions, or after twice as many as it has entries. */
const DELETIONS_MIN = 256

export class TransientMap<Key, Value> implements Iterable<[Key, Value]> {
  #map = new Map<Key, Value>()
  /** Number of deletions until it moves. */
  #deletionsLeft = DELETIONS_MIN

  get size(): number {
    return this.#map.size
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key)
  }

  has(key: Key): boolean {
    return this.#map.has(key)
  }

  set(key: Key, value: Value): void {
    this.#map.set(key, value)
  }

  delete(key: Key): boolean {
    const isDeleted = this.#map.delete(key)
    // Not at once, because the caller may be iterating.
    if (isDeleted && --this.#deletionsLeft === 0) queueMicrotask(() => this.#move())
    return isDeleted
  }

  // Generators, so that an iteration begins with the Map of that moment, however long its iterator has waited.

  *keys(): Generator<Key> {
    yield* this.#map.keys()
  }

  *values(): Generator<Value> {
    yield* this.#map.values()
  }

  *[Symbol.iterator](): Generator<[Key, Value]> {
    yield* this.#map
  }

  #move(): void {
    this.#map = new Map(this.#map)
    this.#deletionsLeft = Math.max(DELETIONS_MIN, 2 * this.#map.size)
  }
}

export class TransientSet<Value> implements Iterable<Value> {
  readonly #map = new TransientMap<Value, true>()

  get size(): number {
    return this.#map.size
  }

  add(value: Value): void {
    this.#map.set(value, true)
  }

  delete(value: Value): boolean {
    return this.#map.delete(value)
  }

  [Symbol.iterator](): Generator<Value> {
    return this.#map.keys()
  }
}
