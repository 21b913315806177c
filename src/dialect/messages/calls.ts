/** Visits and rewrites tool names and call ids throughout a messages request. */

import type { IdForm, ToolNames } from '../../conversation/names.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, memberOf } from '../../lib/json.ts'
import { CallIds } from '../call-ids.ts'
import { mapList, withMember } from '../copy.ts'
import type { VisitCalls } from '../tool-names.ts'

/** Visits the client's tools and their calls only; the provider's own tools have fixed names. */
export const visitCalls: VisitCalls = (body, onName, onId) => {
  const visit = (value: JsonValue | undefined, member: string, on: (text: string) => void): void => {
    const text = memberOf(value, member)
    if (typeof text === 'string') on(text)
  }
  for (const tool of arrayOrEmpty(body.tools)) if (isClientTool(tool)) visit(tool, 'name', onName)
  visit(body.tool_choice, 'name', onName)
  for (const message of arrayOrEmpty(body.messages)) {
    for (const block of arrayOrEmpty(memberOf(message, 'content'))) {
      const type = memberOf(block, 'type')
      if (type === 'tool_use') {
        visit(block, 'name', onName)
        visit(block, 'id', onId)
      } else if (type === 'tool_result') visit(block, 'tool_use_id', onId)
    }
  }
}

/** Renames tools outside the history. */
export function withToolNames(body: JsonObject, names: ToolNames): JsonObject {
  let changed = body
  if (Array.isArray(body.tools)) {
    const tools = mapList(body.tools, tool => (isClientTool(tool) ? renamed(tool, names) : tool))
    changed = withMember(changed, 'tools', tools)
  }
  return isObject(body.tool_choice) ? withMember(changed, 'tool_choice', renamed(body.tool_choice, names)) : changed
}

function isClientTool(tool: JsonValue): tool is JsonObject {
  return isObject(tool) && (tool.type === undefined || tool.type === null || tool.type === 'custom')
}

function renamed(value: JsonObject, names: ToolNames): JsonObject {
  return typeof value.name === 'string' ? withMember(value, 'name', names.upstream(value.name)) : value
}

/** Rewrites names and ids in blocks. Create one per request. */
export class CallRewriter {
  readonly #names: ToolNames | null
  readonly #ids: CallIds

  constructor(names: ToolNames | null, form: IdForm) {
    this.#names = names
    this.#ids = new CallIds(form)
  }

  content(content: JsonValue | undefined): JsonValue | undefined {
    return Array.isArray(content) ? mapList(content, block => this.#block(block)) : content
  }

  #block(block: JsonValue): JsonValue {
    if (!isObject(block)) return block
    if (block.type === 'tool_result') return this.#identified(block, 'tool_use_id')
    if (block.type !== 'tool_use') return block
    const identified = this.#identified(block, 'id')
    return this.#names === null ? identified : renamed(identified, this.#names)
  }

  #identified(block: JsonObject, member: string): JsonObject {
    const id = block[member]
    return typeof id === 'string' ? withMember(block, member, this.#ids.of(id)) : block
  }
}
