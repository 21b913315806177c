/** Tools of a converted request: their names, and the one that stands for a JSON reply. */

import { ToolNames } from '../conversation/names.ts'
import { isCall, type PairedTurn } from '../conversation/pairing.ts'
import type { ToolDefinition, ToolRequest, Turn } from '../conversation/request.ts'
import { REPLY_TOOL } from '../dialect/structure.ts'
import type { Dialect } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'

export interface ToolPlan {
  readonly tools: ToolRequest
  readonly names: ToolNames
  /** Schema of a tool whose input is the reply; null: none. */
  readonly replyTool: JsonObject | null
  readonly dialect: Dialect
}

/** The tools that go up, each as the model takes it. */
export function adaptTools(
  { tools, names, replyTool, dialect }: ToolPlan,
  adapt: (tool: ToolDefinition) => ToolDefinition,
): { readonly tools: ToolRequest; readonly names: ToolNames } {
  if (replyTool === null) return { tools: { ...tools, definitions: tools.definitions.map(adapt) }, names }
  const tool = { name: REPLY_TOOL, description: null, schema: replyTool, strict: false }
  return {
    tools: { definitions: [adapt(tool)], choice: { mode: 'tool', name: REPLY_TOOL }, oneCallOnly: false },
    names: new ToolNames([REPLY_TOOL], dialect.tools),
  }
}

export function namesOf(tools: ToolRequest, turns: readonly Turn[], dialect: Dialect): ToolNames {
  return new ToolNames(toolNamesOf(tools, turns), dialect.tools)
}

function* toolNamesOf(tools: ToolRequest, turns: readonly Turn[]): Generator<string> {
  for (const tool of tools.definitions) yield tool.name
  if (tools.choice?.mode === 'tool') yield tools.choice.name
  for (const turn of turns) for (const part of turn.parts) if (isCall(part)) yield part.name
}

/** The instruction behind those that the conversation begins with. */
export function withInstruction(turns: readonly PairedTurn[], instruction: string | null): readonly PairedTurn[] {
  if (instruction === null) return turns
  const first = turns.findIndex(turn => turn.role !== 'system')
  const parts = [{ kind: 'text' as const, text: instruction }]
  return turns.toSpliced(Math.max(first, 0), 0, { role: 'system', parts, place: '', answers: new Map() })
}
