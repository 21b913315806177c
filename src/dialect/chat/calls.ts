/** Visits and rewrites tool names and call ids throughout a chat request. */

import type { IdForm, ToolNames } from '../../conversation/names.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, memberOf, objectOrNull } from '../../lib/json.ts'
import { CallIds } from '../call-ids.ts'
import { mapList, withMember } from '../copy.ts'
import type { VisitCalls } from '../tool-names.ts'

/** Members of a tool, choice or call that contain a name. */
const NAMED = ['function', 'custom'] as const

/** Visits the tools, the choice and the history. */
export const visitCalls: VisitCalls = (body, onName, onId) => {
  const visitNamed = (value: JsonValue | undefined): void => {
    const name = memberOf(value, 'name')
    if (typeof name === 'string') onName(name)
  }
  const visitTool = (tool: JsonValue | undefined): void => {
    for (const member of NAMED) visitNamed(memberOf(tool, member))
  }
  for (const tool of arrayOrEmpty(body.tools)) visitTool(tool)
  for (const fn of arrayOrEmpty(body.functions)) visitNamed(fn)
  visitTool(body.tool_choice)
  visitNamed(body.function_call)
  for (const message of arrayOrEmpty(body.messages)) {
    const role = memberOf(message, 'role')
    if (role === 'assistant') {
      for (const call of arrayOrEmpty(memberOf(message, 'tool_calls'))) {
        visitTool(call)
        const id = memberOf(call, 'id')
        if (typeof id === 'string') onId(id)
      }
      visitNamed(memberOf(message, 'function_call'))
    } else if (role === 'tool' || role === 'function') {
      visitNamed(message)
      const id = memberOf(message, 'tool_call_id')
      if (typeof id === 'string') onId(id)
    }
  }
}

/** Renames tools outside the history. */
export function withToolNames(body: JsonObject, names: ToolNames): JsonObject {
  let changed = body
  if (Array.isArray(body.tools))
    changed = withMember(
      changed,
      'tools',
      mapList(body.tools, tool => named(tool, names)),
    )
  if (Array.isArray(body.functions)) {
    changed = withMember(
      changed,
      'functions',
      mapList(body.functions, fn => renamed(fn, names)),
    )
  }
  if (isObject(body.tool_choice)) changed = withMember(changed, 'tool_choice', choiceNamed(body.tool_choice, names))
  if (isObject(body.function_call)) changed = withMember(changed, 'function_call', renamed(body.function_call, names))
  return changed
}

function choiceNamed(choice: JsonObject, names: ToolNames): JsonValue {
  const allowed = objectOrNull(choice.allowed_tools)
  if (allowed === null || !Array.isArray(allowed.tools)) return named(choice, names)
  const tools = mapList(allowed.tools, tool => named(tool, names))
  return withMember(choice, 'allowed_tools', withMember(allowed, 'tools', tools))
}

function named(tool: JsonValue, names: ToolNames): JsonValue {
  if (!isObject(tool)) return tool
  let changed = tool
  for (const member of NAMED) {
    const inner = tool[member]
    if (isObject(inner)) changed = withMember(changed, member, renamed(inner, names))
  }
  return changed
}

function renamed(value: JsonValue, names: ToolNames): JsonValue {
  return isObject(value) && typeof value.name === 'string'
    ? withMember(value, 'name', names.upstream(value.name))
    : value
}

/** Rewrites names and ids in messages. Create one per request. */
export class CallRewriter {
  readonly #names: ToolNames | null
  readonly #ids: CallIds

  constructor(names: ToolNames | null, form: IdForm) {
    this.#names = names
    this.#ids = new CallIds(form)
  }

  message(message: JsonObject): JsonObject {
    let changed = message
    if (Array.isArray(message.tool_calls)) {
      changed = withMember(
        changed,
        'tool_calls',
        mapList(message.tool_calls, call => this.#call(call)),
      )
    }
    if (typeof message.tool_call_id === 'string') {
      changed = withMember(changed, 'tool_call_id', this.#ids.of(message.tool_call_id))
    }
    if (this.#names === null) return changed
    if (isObject(message.function_call)) {
      changed = withMember(changed, 'function_call', renamed(message.function_call, this.#names))
    }
    const isResult = message.role === 'tool' || message.role === 'function'
    return isResult ? (renamed(changed, this.#names) as JsonObject) : changed
  }

  #call(call: JsonValue): JsonValue {
    if (!isObject(call)) return call
    const identified = typeof call.id === 'string' ? withMember(call, 'id', this.#ids.of(call.id)) : call
    return this.#names === null ? identified : named(identified, this.#names)
  }
}
