/** Names of tools and ids of calls in a responses request, wherever they stand. */

import type { IdForm, ToolNames } from '../../conversation/names.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { CallIds } from '../call-ids.ts'
import { mapList, withMember } from '../copy.ts'

/** Longest id that is sent anywhere, in characters. */
const ID_LENGTH_MAX = 64

/** All names of tools in the request: in the list, in the choice, in the history. */
export function toolNamesIn(body: JsonObject): string[] {
  const names: string[] = []
  note(arrayOrEmpty(body.tools))
  if (isObject(body.tool_choice)) note([body.tool_choice])
  note(arrayOrEmpty(body.input))
  return names

  function note(holders: readonly JsonValue[]): void {
    for (const holder of holders) {
      if (!isObject(holder)) continue
      if (isNamed(holder)) names.push(holder.name)
      if (Array.isArray(holder.tools)) note(holder.tools)
    }
  }
}

const NAMED = new Set(['function', 'custom', 'function_call', 'custom_tool_call'])

/** A namespace keeps its name. */
function isNamed(holder: JsonObject): holder is JsonObject & { name: string } {
  return typeof holder.name === 'string' && typeof holder.type === 'string' && NAMED.has(holder.type)
}

/** The names outside the history. */
export function withToolNames(body: JsonObject, names: ToolNames): JsonObject {
  let changed = body
  if (Array.isArray(body.tools)) changed = withMember(changed, 'tools', renamed(body.tools, names))
  const [choice] = isObject(body.tool_choice) ? renamed([body.tool_choice], names) : []
  return choice === undefined ? changed : withMember(changed, 'tool_choice', choice)
}

function renamed(holders: readonly JsonValue[], names: ToolNames): JsonValue[] {
  return mapList(holders, holder => {
    if (!isObject(holder)) return holder
    const named = isNamed(holder) ? withMember(holder, 'name', names.upstream(holder.name)) : holder
    return Array.isArray(named.tools) ? withMember(named, 'tools', renamed(named.tools, names)) : named
  })
}

/** Names and ids of the items, one rewriter for a request. */
export class CallRewriter {
  readonly #names: ToolNames | null
  readonly #form: IdForm
  readonly #ids: CallIds

  constructor(names: ToolNames | null, form: IdForm) {
    this.#names = names
    this.#form = form
    this.#ids = new CallIds(form)
  }

  items(items: readonly JsonValue[]): JsonValue[] {
    const named = this.#names === null ? items : renamed(items, this.#names)
    return mapList(named, item => {
      if (!isObject(item) || typeof item.call_id !== 'string') return item
      const { call_id: id } = item
      const fits = this.#form === 'any' && id.length <= ID_LENGTH_MAX
      return fits ? item : withMember(item, 'call_id', this.#ids.of(id))
    })
  }
}
