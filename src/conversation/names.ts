/** Tool names and call ids that one side does not accept: mapped for one request, the same everywhere, restored in the reply. */

import { createHash } from 'node:crypto'
import type { CallPart } from './request.ts'

/** Longest call id that is sent anywhere, in characters. */
const ID_LENGTH_MAX = 64
const WORD = /^[a-zA-Z0-9_-]+$/
const HASH_LENGTH = 8

export interface NameRules {
  /** Longest name accepted, in characters. */
  readonly nameMax: number
  readonly nameStart: 'any' | 'letter'
  /** Characters that stay as they are; absent: letters, digits, `_` and `-`. */
  readonly characters?: 'any' | 'word'
}

/** Whether a name may go up as it is. */
export function isNameAccepted(name: string, { nameMax, nameStart, characters = 'word' }: NameRules): boolean {
  if (name.length > nameMax || (characters === 'word' && !WORD.test(name))) return false
  return nameStart === 'any' || /^[a-zA-Z]/.test(name)
}

/** Two-way map between the client's tool names and those that go upstream. One per request. */
export class ToolNames {
  readonly #rules: NameRules
  readonly #upstream = new Map<string, string>()
  readonly #client = new Map<string, string>()

  /** `names`: all names of the request. Those that may stay as they are come first, so that no made-up name takes theirs. */
  constructor(names: Iterable<string>, rules: NameRules) {
    this.#rules = rules
    const all = [...new Set(names)]
    for (const name of all) if (isNameAccepted(name, rules)) this.#add(name, name)
    for (const name of all) if (!isNameAccepted(name, rules)) this.#add(name, this.#shorten(name))
  }

  /** The name to send upstream. Throws when the request did not announce the name to the constructor. */
  upstream(name: string): string {
    const mapped = this.#upstream.get(name)
    if (mapped === undefined) throw new Error('a tool name was not registered')
    return mapped
  }

  /** The client's own name for what the upstream wrote; unknown names stay. */
  client(name: string): string {
    return this.#client.get(name) ?? name
  }

  #shorten(name: string): string {
    const lettered = this.#rules.nameStart === 'letter' && !/^[a-zA-Z]/.test(name) ? `t${name}` : name
    const stem = lettered.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, this.#rules.nameMax - HASH_LENGTH - 1)
    for (let attempt = 0; ; attempt += 1) {
      const shortened = `${stem}_${hash(attempt === 0 ? name : `${name} ${attempt}`).slice(0, HASH_LENGTH)}`
      if (!this.#client.has(shortened)) return shortened
    }
  }

  #add(name: string, mapped: string): void {
    this.#upstream.set(name, mapped)
    this.#client.set(mapped, name)
  }
}

export type IdForm = 'any' | 'word' | 'alphanumeric_9'

/** Ids of the calls in a history as the upstream gets them: of its form, unique, and the same for call and result. */
export class UpstreamIds {
  readonly #form: IdForm | 'as_given'
  readonly #ids = new Map<CallPart, string>()
  readonly #taken = new Set<string>()

  /** `as_given`: unique, and otherwise as the client wrote them. */
  constructor(form: IdForm | 'as_given') {
    this.#form = form
  }

  of(call: CallPart): string {
    const known = this.#ids.get(call)
    if (known !== undefined) return known
    let id = idInForm(call.id === '' ? `call_${this.#ids.size}` : call.id, this.#form)
    // Some providers number the calls of each turn anew; what repeats gets a name of its own, the same in every request.
    for (let attempt = 2; this.#taken.has(id); attempt += 1) {
      const suffix = `_${attempt}`
      id = idInForm(`${call.id.slice(0, ID_LENGTH_MAX - suffix.length)}${suffix}`, this.#form)
    }
    this.#taken.add(id)
    this.#ids.set(call, id)
    return id
  }
}

/** Whether an id may go up as it is. */
export function isIdAccepted(id: string, form: IdForm): boolean {
  if (form === 'alphanumeric_9') return /^[a-zA-Z0-9]{9}$/.test(id)
  return id.length <= ID_LENGTH_MAX && (form === 'any' || WORD.test(id))
}

/** The id itself where the form takes it, else one derived from it: same id, same result. */
export function idInForm(id: string, form: IdForm | 'as_given'): string {
  if (form === 'as_given') return id
  if (isIdAccepted(id, form)) return id
  if (form === 'alphanumeric_9') return hash(id).slice(0, 9)
  const words = form === 'any' || WORD.test(id) ? id : id.replace(/[^a-zA-Z0-9_-]/g, '_')
  if (words.length <= ID_LENGTH_MAX) return words
  return `${words.slice(0, ID_LENGTH_MAX - HASH_LENGTH * 2 - 1)}_${hash(id).slice(0, HASH_LENGTH * 2)}`
}

/** Hexadecimal SHA-256. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
