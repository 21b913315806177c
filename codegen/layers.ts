/** Values of the tables are built in layers, each stating only what differs; so is the generated source. */

import type { Rule } from '../src/generated/types.ts'

/** What a layer states, by word of the tables. A map among the values is a group, merged word by word. */
export type Said = ReadonlyMap<string, unknown>

export const NOTHING: Said = new Map()

export function applySaid<Value extends object>(base: Value, said: Said): Value {
  const result = { ...base } as Record<string, unknown>
  for (const [word, value] of said) {
    result[word] = value instanceof Map ? applySaid((result[word] ?? {}) as object, value) : value
  }
  return result as Value
}

/** One place in the catalogue that states facts about calls. */
export interface Layer {
  /** call: follows from a price per call. wire: applies to one of several wire formats. */
  readonly kind: 'family' | 'model' | 'entry' | 'upstream' | 'target' | 'call' | 'wire'
  /** Name of the family, model, entry or upstream that the layer belongs to. */
  readonly name: string
  /** Empty if the layer states nothing about the dialect. */
  readonly dialect: Said
  readonly extras: Said
  readonly rules: readonly Rule[]
}

export interface LayerNode<Value> {
  readonly value: Value
  /** The last layer and its parent; null for the defaults. */
  readonly on: { readonly layer: Layer; readonly parent: LayerNode<Value> } | null
}

export interface LayerTreeOptions<Value> {
  readonly defaults: Value
  /** The value with a layer added, always a new object; null when the layer says nothing. */
  readonly add: (base: Value, layer: Layer) => Value | null
  /** Layers of these kinds get a node even if empty, so that adding a first word changes the generated source in one place. */
  readonly kept: readonly Layer['kind'][]
}

/** All values built from layers: the same layers give the same object, and each object's layers can be looked up. */
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

  /** The value that these layers give; later ones win. */
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
    const { add, kept } = this.#options
    const value = add(parent.value, layer) ?? (kept.includes(layer.kind) ? copy(parent.value) : null)
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
