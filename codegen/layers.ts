/**
 * Builds the dialects, extras and rules of the generated tables in layers, such as a family, then a model, then an entry. Each
 * layer states only what differs from the layers before it. The generated source is layered in the same way.
 */

import type { Rule } from '../src/generated/types.ts'

/**
 * The facts that a layer states, under their names in the generated tables. A value that is a Map is a group of facts, which
 * are merged one by one; any other value replaces the value of an earlier layer.
 */
export type StatedFacts = ReadonlyMap<string, unknown>

export const NO_FACTS: StatedFacts = new Map()

export function mergeFacts<Value extends object>(base: Value, stated: StatedFacts): Value {
  const result = { ...base } as Record<string, unknown>
  for (const [word, value] of stated) {
    result[word] = value instanceof Map ? mergeFacts((result[word] ?? {}) as object, value) : value
  }
  return result as Value
}

/** The facts about calls that are written in one place of the catalogue, such as a model. */
export interface Layer {
  /** `call`: for entries priced per call. `wire`: for one of the wire formats that a model speaks. */
  readonly kind: 'family' | 'model' | 'entry' | 'upstream' | 'target' | 'call' | 'wire'
  /** Name of the family, model, entry or upstream that the layer belongs to. */
  readonly name: string
  readonly dialect: StatedFacts
  readonly extras: StatedFacts
  readonly rules: readonly Rule[]
}

export interface LayerNode<Value> {
  readonly value: Value
  /** The last layer that was added, and the node it was added to; null for the defaults. */
  readonly on: { readonly layer: Layer; readonly parent: LayerNode<Value> } | null
}

export interface LayerTreeOptions<Value> {
  readonly defaults: Value
  /** Adds a layer to a value. Returns a new object, or null if the layer states nothing. */
  readonly add: (base: Value, layer: Layer) => Value | null
  /**
   * Layers of these kinds get a node even if they state nothing, so that the generated source changes in only one place when
   * they state their first fact.
   */
  readonly alwaysAdded: readonly Layer['kind'][]
}

/** Builds values from layers. The same layers give the same object, and the layers of each object can be looked up. */
export class LayerTree<Value extends object> {
  readonly root: LayerNode<Value>
  readonly #options: LayerTreeOptions<Value>
  readonly #above = new Map<LayerNode<Value>, Map<Layer, LayerNode<Value>>>()
  readonly #byValue = new Map<object, LayerNode<Value>>()

  constructor(options: LayerTreeOptions<Value>) {
    this.#options = options
    this.root = { value: options.defaults, on: null }
    this.#byValue.set(options.defaults, this.root)
  }

  /** The value that results from these layers; later layers win. */
  resolve(layers: readonly (Layer | undefined)[]): Value {
    let node = this.root
    for (const layer of layers) if (layer !== undefined) node = this.#add(node, layer)
    return node.value
  }

  /** The node of a resolved value; undefined for objects that this tree did not create. */
  nodeOf(value: object): LayerNode<Value> | undefined {
    return this.#byValue.get(value)
  }

  #add(parent: LayerNode<Value>, layer: Layer): LayerNode<Value> {
    const siblings = this.#above.get(parent)
    const known = siblings?.get(layer)
    if (known !== undefined) return known
    const { add, alwaysAdded } = this.#options
    const value = add(parent.value, layer) ?? (alwaysAdded.includes(layer.kind) ? copy(parent.value) : null)
    if (value === null) return parent
    const node = { value, on: { layer, parent } }
    if (siblings === undefined) this.#above.set(parent, new Map([[layer, node]]))
    else siblings.set(layer, node)
    this.#byValue.set(value, node)
    return node
  }
}

function copy<Value extends object>(value: Value): Value {
  return (Array.isArray(value) ? [...value] : { ...value }) as Value
}
