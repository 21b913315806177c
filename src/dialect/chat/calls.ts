/** Finds and rewrites tool names and call ids throughout a chat request. */

import { argumentsObject, UNREADABLE_ARGUMENTS } from '../../conversation/arguments.ts'
import type { ToolNames } from '../../conversation/names.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, memberOf, objectOrNull } from '../../lib/json.ts'
import { type CallRewriter, renamed } from '../call-rewriter.ts'
import { withEach, withMember } from '../copy.ts'
import type { VisitCalls } from '../tool-names.ts'

/** Members of a tool, tool choice or call that contain the tool's name. */
const NAMED = ['function', 'custom'] as const

/** Visits the tools, the tool choice and the history. */
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
  for (const tool of arrayOrEmpty(memberOf(memberOf(body.tool_choice, 'allowed_tools'), 'tools'))) visitTool(tool)
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

/** Renames tools everywhere except in the history. */
export function withToolNames(body: JsonObject, names: ToolNames): JsonObject {
  let changed = withEach(body, 'tools', tool => named(tool, names))
  changed = withEach(changed, 'functions', fn => (isObject(fn) ? renamed(fn, names) : fn))
  if (isObject(body.tool_choice)) changed = withMember(changed, 'tool_choice', choiceNamed(body.tool_choice, names))
  if (isObject(body.function_call)) changed = withMember(changed, 'function_call', renamed(body.function_call, names))
  return changed
}

function choiceNamed(choice: JsonObject, names: ToolNames): JsonValue {
  const allowed = objectOrNull(choice.allowed_tools)
  if (allowed === null || !Array.isArray(allowed.tools)) return named(choice, names)
  return withMember(
    choice,
    'allowed_tools',
    withEach(allowed, 'tools', tool => named(tool, names)),
  )
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

/** Makes the arguments of each call the JSON of an object. Those that are one keep their bytes. */
export function withArguments(message: JsonObject): JsonObject {
  const changed = withEach(message, 'tool_calls', call => {
    const fn = memberOf(call, 'function')
    return isObject(call) && isObject(fn) ? withMember(call, 'function', argued(fn)) : call
  })
  return isObject(message.function_call) ? withMember(changed, 'function_call', argued(message.function_call)) : changed
}

function argued(call: JsonObject): JsonObject {
  const { arguments: given } = call
  const read = argumentsObject(given)
  const isOwn = typeof given === 'string' && given.trim().startsWith('{') && !Object.hasOwn(read, UNREADABLE_ARGUMENTS)
  return isOwn ? call : withMember(call, 'arguments', JSON.stringify(read))
}

/** Rewrites the names and ids in a message. */
export function messageFor(message: JsonObject, rewriter: CallRewriter): JsonObject {
  let changed = rewriter.withId(message, 'tool_call_id')
  changed = withEach(changed, 'tool_calls', call => callFor(call, rewriter))
  if (isObject(message.function_call)) {
    changed = withMember(changed, 'function_call', rewriter.withName(message.function_call))
  }
  const isResult = message.role === 'tool' || message.role === 'function'
  return isResult ? rewriter.withName(changed) : changed
}

function callFor(call: JsonValue, rewriter: CallRewriter): JsonValue {
  if (!isObject(call)) return call
  const identified = rewriter.withId(call, 'id')
  return rewriter.names === null ? identified : named(identified, rewriter.names)
}
