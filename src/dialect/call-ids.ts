/** Ids of calls in a history that the upstream does not take as they are: the same for call and result. */

import { type IdForm, idInForm } from '../conversation/names.ts'

/** One per request: the same id always gives the same, and no two share one. */
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
