/** Maps call ids in a history that the upstream would reject; a call and its result get the same id. */

import { type IdForm, idInForm } from '../conversation/names.ts'

/** Create one per request. Equal ids map to the same id, and different ones to different ids. */
export class CallIds {
  readonly #form: IdForm
  readonly #mapped = new Map<string, string>()
  readonly #taken = new Set<string>()

  constructor(form: IdForm) {
    this.#form = form
  }

  of(id: string): string {
    const known = this.#mapped.get(id)
    if (known !== undefined) return known
    let mapped = idInForm(id, this.#form)
    for (let attempt = 2; this.#taken.has(mapped); attempt += 1) mapped = idInForm(`${attempt}_${id}`, this.#form)
    this.#mapped.set(id, mapped)
    this.#taken.add(mapped)
    return mapped
  }
}
