/**
 * Replaces tool names and call ids that the upstream does not accept, consistently within a request; replies get the client's
 * names back.
 */

import { createHash } from 'node:crypto'
import type { CallPart } from './request.ts'

/** Longest call id sent to an upstream, in characters. */
const ID_LENGTH_MAX = 64
const WORD = /^[a-zA-Z0-9_-]+$/
const HASH_LENGTH = 8

export interface NameRules {
  /** Longest accepted name, in characters. */
  readonly nameMax: number
  readonly nameStart: 'any' | 'letter'
  /** Accepted characters: any, or only letters, digits, `_` and `-` (the default). */
  readonly characters?: 'any' | 'word'
}

/** Whether a name may be sent upstream unchanged. */
export function isNameAccepted(name: string, { nameMax, nameStart, characters = 'word' }: NameRules): boolean {
  if (name.length > nameMax || (characters === 'word' && !WORD.test(name))) return false
  return nameStart === 'any' || /^[a-zA-Z]/.test(name)
}

/** Maps the client's tool names to those sent upstream, and back. Create one instance per request. */
export class ToolNames {
  readonly #rules: NameRules
  readonly #upstream = new Map<string, string>()
  readonly #client = new Map<string, string>()

  /**
   * `names`: all tool names in the request. Names that stay unchanged are registered first, so that no generated name collides
   * with them.
   */
  constructor(names: Iterable<string>, rules: NameRules) {
    this.#rules = rules
    const all = [...new Set(names)]
    for (const name of all) if (isNameAccepted(name, rules)) this.#add(name, name)
    for (const name of all) if (!isNameAccepted(name, rules)) this.#add(name, this.#shorten(name))
  }

  /** Returns the name to send upstream. Throws for a name that the constructor was not given. */
  upstream(name: string): string {
    const mapped = this.#upstream.get(name)
    if (mapped === undefined) throw new Error('a tool name was not registered')
    return mapped
  }

  /** Returns the client's name for a name that the upstream used. Unknown names are returned unchanged. */
  client(name: string): string {
    return this.#client.get(name) ?? name
  }

  #shorten(name: string): string {
    const lettered = this.#rules.nameStart === 'letter' && !/^[a-zA-Z]/.test(name) ? `t${name}` : name
    const stem = asWord(lettered.slice(0, this.#rules.nameMax - HASH_LENGTH - 1))
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

/**
 * Assigns upstream ids to the tool calls in the conversation's history: in the required form, unique, and the same for a call
 * and its result.
 */
export class UpstreamIds {
  readonly #form: IdForm | 'as_given'
  readonly #ids = new Map<CallPart, string>()
  readonly #taken = new Set<string>()
  /** For each repeated id, how often it has occurred, so that the free suffixes need no search. */
  readonly #repeats = new Map<string, number>()

  /** `as_given` makes ids unique but otherwise leaves them unchanged. */
  constructor(form: IdForm | 'as_given') {
    this.#form = form
  }

  of(call: CallPart): string {
    const known = this.#ids.get(call)
    if (known !== undefined) return known
    const first = idInForm(call.id === '' ? `call_${this.#ids.size}` : call.id, this.#form)
    let id = first
    // Some providers restart the numbering of calls in each turn. A repeated id gets a suffix, and a call the same one in every
    // request.
    for (let attempt = (this.#repeats.get(first) ?? 1) + 1; this.#taken.has(id); attempt += 1) {
      const suffix = `_${attempt}`
      id = idInForm(`${call.id.slice(0, ID_LENGTH_MAX - suffix.length)}${suffix}`, this.#form)
      this.#repeats.set(first, attempt)
    }
    this.#taken.add(id)
    this.#ids.set(call, id)
    return id
  }
}

/** Whether an id may be sent upstream unchanged. */
export function isIdAccepted(id: string, form: IdForm): boolean {
  if (form === 'alphanumeric_9') return /^[a-zA-Z0-9]{9}$/.test(id)
  return id.length <= ID_LENGTH_MAX && (form === 'any' || WORD.test(id))
}

/** Returns the id itself if it has the required form, else an id derived from it. Deterministic. */
export function idInForm(id: string, form: IdForm | 'as_given'): string {
  if (form === 'as_given') return id
  if (isIdAccepted(id, form)) return id
  if (form === 'alphanumeric_9') return hash(id).slice(0, 9)
  if (id.length <= ID_LENGTH_MAX) return asWord(id)
  const stem = id.slice(0, ID_LENGTH_MAX - HASH_LENGTH * 2 - 1)
  return `${form === 'any' ? stem : asWord(stem)}_${hash(id).slice(0, HASH_LENGTH * 2)}`
}

/** Replaces characters that not every upstream accepts. Only for short texts: in 20 MB it takes seconds. */
function asWord(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, '_')
}

/** Returns the SHA-256 of the text in hexadecimal. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
