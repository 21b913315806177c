/** Edits of JSON text, and the tree that several of them form, so that they can be applied in one pass. */

export type BodyEdit =
  | { readonly op: 'set'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'arrange'; readonly path: string; readonly items: readonly ArrangedItem[] }

/** An element of a rearranged list: the old element at index `from` with edits applied to it, or a new value. */
export type ArrangedItem = { readonly from: number; readonly edits: readonly BodyEdit[] } | { readonly value: unknown }

/** Edits by the tokens of their pointers. Each place has an edit of its own or edits further in, not both. */
export interface EditTree {
  edit: BodyEdit | null
  /** When the first `set` here or further in was added; null if there is none. */
  setAt: number | null
  readonly children: Map<string, EditTree>
}

export function newTree(): EditTree {
  return { edit: null, setAt: null, children: new Map() }
}

/** Whether an earlier edit changes a value as a whole that this one is in, or that is in this one's. */
export function hasConflict(tree: EditTree, keys: readonly string[]): boolean {
  let node = tree
  for (const key of keys) {
    const child = node.children.get(key)
    if (child === undefined) return false
    if (child.edit !== null) return true
    node = child
  }
  return true
}

/** Call only if there is no conflict. `at`: how many edits came before. */
export function addEdit(tree: EditTree, keys: readonly string[], { edit, at }: { edit: BodyEdit; at: number }): void {
  let node = tree
  for (const key of keys) {
    const child = node.children.get(key) ?? newTree()
    node.children.set(key, child)
    if (edit.op === 'set') child.setAt ??= at
    node = child
  }
  node.edit = edit
}
