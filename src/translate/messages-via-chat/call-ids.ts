/** Ids of tool calls as the client gets them. */

import { idInForm } from '../../conversation/names.ts'
import { signId } from '../../conversation/signed-ids.ts'
import { atPointer, type JsonObject, textOrNull } from '../../lib/json.ts'
import type { TranslationContext } from '../translator.ts'
import type { RequestFacts } from './request.ts'

/** One per reply: no two calls of a conversation share an id, whatever the upstream calls them. */
export class CallIds {
  readonly #taken: Set<string>
  readonly #newId: () => string
  readonly #signaturePath: string | null

  constructor({ knownIds }: RequestFacts, { newId, target }: TranslationContext) {
    this.#taken = new Set(knownIds)
    this.#newId = newId
    this.#signaturePath = target.dialect.tools.signature.path
  }

  /** `given`: the upstream's own id, '' when it is missing. */
  assign(given: string, signature: string | null): string {
    const legal = idInForm(given, 'word')
    const id = legal === '' || this.#taken.has(legal) ? `toolu_${this.#newId()}` : legal
    this.#taken.add(id)
    return signId(id, signature)
  }

  /** The signature that must come back with the call, or null. */
  signatureOf(call: JsonObject): string | null {
    return this.#signaturePath === null ? null : textOrNull(atPointer(call, this.#signaturePath))
  }
}
