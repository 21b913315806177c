/** Finds and rewrites tool names and call ids throughout a messages request. */

import type { ToolNames } from '../../conversation/names.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, memberOf } from '../../lib/json.ts'
import { type CallRewriter, renamed } from '../call-rewriter.ts'
import { mapList, withEach, withMember } from '../copy.ts'
import type { VisitCalls } from '../tool-names.ts'

/** Visits only the client's tools and the calls to them. The provider's own tools have fixed names. */
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

/** Renames tools everywhere except in the history. */
export function withToolNames(body: JsonObject, names: ToolNames): JsonObject {
  const changed = withEach(body, 'tools', tool => (isClientTool(tool) ? renamed(tool, names) : tool))
  return isObject(body.tool_choice) ? withMember(changed, 'tool_choice', renamed(body.tool_choice, names)) : changed
}

function isClientTool(tool: JsonValue): tool is JsonObject {
  return isObject(tool) && (tool.type === undefined || tool.type === null || tool.type === 'custom')
}

/** Rewrites the tool names and call ids in a message's content. */
export function contentFor(content: JsonValue | undefined, rewriter: CallRewriter): JsonValue | undefined {
  return Array.isArray(content) ? mapList(content, block => blockFor(block, rewriter)) : content
}

function blockFor(block: JsonValue, rewriter: CallRewriter): JsonValue {
  if (!isObject(block)) return block
  if (block.type === 'tool_result') return rewriter.withId(block, 'tool_use_id')
  return block.type === 'tool_use' ? rewriter.withName(rewriter.withId(block, 'id')) : block
}
