/** Ids of tool calls as the client gets them. */

import { idInForm } from './names.ts'
import { signId } from './signed-ids.ts'

/** One per reply: no two calls of a conversation share an id, whatever the upstream calls them. */
export class CallIds {
  readonly #taken: Set<string>
  readonly #newId: () => string

  /** `known`: the ids in the history. `newId`: fresh, with the prefix of the client's format. */
  constructor(known: ReadonlySet<string>, newId: () => string) {
    this.#taken = new Set(known)
    this.#newId = newId
  }

  /** `given`: the upstream's own id, '' when it is missing. */
  assign(given: string, signature: string | null): string {
    const legal = idInForm(given, 'word')
    const id = legal === '' || this.#taken.has(legal) ? this.#newId() : legal
    this.#taken.add(id)
    return signId(id, signature)
  }
}
