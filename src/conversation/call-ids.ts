/** Assigns the ids that clients see for tool calls. */

import { idInForm } from './names.ts'
import { signId } from './signed-ids.ts'

/** Assigns the ids of one reply. They are unique within the conversation, even if the upstream repeats its own. */
export class CallIds {
  readonly #taken: Set<string>
  readonly #newId: () => string

  /** `known`: call ids in the history. `newId`: makes a new id with the prefix of the client's format. */
  constructor(known: ReadonlySet<string>, newId: () => string) {
    this.#taken = new Set(known)
    this.#newId = newId
  }

  /**
   * Returns the id to show for a call, which carries the call's signature, if any. `given`: the upstream's id; '' if missing.
   */
  assign(given: string, signature: string | null): string {
    const legal = idInForm(given, 'word')
    const id = legal === '' || this.#taken.has(legal) ? this.#newId() : legal
    this.#taken.add(id)
    return signId(id, signature)
  }
}
