/** Rewrites, throughout one request, the tool names and call ids that the upstream would reject. */

import { type IdForm, idInForm, type ToolNames } from '../conversation/names.ts'
import type { JsonObject } from '../lib/json.ts'
import { withMember } from './copy.ts'
import type { CallsFound } from './tool-names.ts'

/** Returns the rewriter for one request; null if all its names and ids can stay. */
export function rewriterFor({ names, mapsIds }: CallsFound, form: IdForm): CallRewriter | null {
  return names === null && !mapsIds ? null : new CallRewriter(names, form)
}

export class CallRewriter {
  readonly names: ToolNames | null
  readonly #form: IdForm
  readonly #mapped = new Map<string, string>()
  readonly #taken = new Set<string>()

  constructor(names: ToolNames | null, form: IdForm) {
    this.names = names
    this.#form = form
  }

  /** Replaces the id at `holder[member]`. A call and its result get the same id; different ids stay different. */
  withId(holder: JsonObject, member: string): JsonObject {
    const id = holder[member]
    return typeof id === 'string' ? withMember(holder, member, this.#idOf(id)) : holder
  }

  /** Replaces the tool name at `holder.name`. */
  withName(holder: JsonObject): JsonObject {
    return this.names === null ? holder : renamed(holder, this.names)
  }

  #idOf(id: string): string {
    const known = this.#mapped.get(id)
    if (known !== undefined) return known
    let mapped = idInForm(id, this.#form)
    for (let attempt = 2; this.#taken.has(mapped); attempt += 1) mapped = idInForm(`${attempt}_${id}`, this.#form)
    this.#mapped.set(id, mapped)
    this.#taken.add(mapped)
    return mapped
  }
}

export function renamed(holder: JsonObject, names: ToolNames): JsonObject {
  return typeof holder.name === 'string' ? withMember(holder, 'name', names.upstream(holder.name)) : holder
}
