/** Plans how to request a JSON reply from an upstream, and what to undo in the reply. */

import type { StructureRequest } from '../conversation/request.ts'
import type { JsonObject } from '../lib/json.ts'
import { qualifiesForStrictChat, replySchema } from './schemas.ts'
import { type DialectFacts, NOTHING_TO_UNDO, type ReplyFacts } from './types.ts'
import type { Dialect } from './words.ts'

/** Name of the tool whose input is the reply, for models that are asked for JSON that way. */
export const REPLY_TOOL = 'json_reply'

export interface StructurePlan {
  /** Fields for the upstream's body. `output_config` contains only the format. */
  readonly fields: JsonObject
  /** Text to add to the instructions; null: none. */
  readonly instruction: string | null
  /** Schema of the tool whose input is the reply; null: no such tool. */
  readonly tool: JsonObject | null
  /** Whether the reply may come in a code fence, which must be removed. */
  readonly unwrapsFence: boolean
}

/** Returns what must be undone in the reply to a call with this plan. */
export function undoingOf(
  names: ReplyFacts['names'],
  structure: StructurePlan | null,
  { tag, hidesUsageChunk }: Pick<ReplyFacts, 'tag' | 'hidesUsageChunk'> = NOTHING_TO_UNDO,
): ReplyFacts {
  const replyTool = structure?.tool ? REPLY_TOOL : null
  const unwrapsFence = structure?.unwrapsFence === true
  const isNothing = names === null && replyTool === null && !unwrapsFence && tag === null && !hidesUsageChunk
  return isNothing ? NOTHING_TO_UNDO : { names, replyTool, unwrapsFence, tag, hidesUsageChunk }
}

const NONE: StructurePlan = { fields: {}, instruction: null, tool: null, unwrapsFence: false }

export interface StructureFacts {
  readonly request: StructureRequest | null
  readonly mode: Dialect['structuredOutput']['method']
  /** Whether a tool call can be forced: the client has no tools of its own, and the model accepts forced calls. */
  readonly canForceTool: boolean
}

/**
 * Whether the gateway plans how to request JSON. Otherwise the client's own fields pass unchanged, because the upstream has the
 * same format and supports them.
 */
export function isStructureOurs({ road, structure, dialect }: DialectFacts): boolean {
  if (structure === null) return false
  if (road === 'converted') return true
  const { method } = dialect.structuredOutput
  if (method === 'native' || method === 'json_schema') return false
  return structure.kind === 'schema' || method === 'prompt'
}

/** Plans how to request JSON from a chat upstream. */
export function planChatStructure({ request, mode, canForceTool }: StructureFacts): StructurePlan {
  if (request === null) return NONE
  if (mode === 'prompt') return promptPlan(request)
  if (request.kind === 'object') return { ...NONE, fields: JSON_OBJECT, instruction: OBJECT_INSTRUCTION }
  switch (mode) {
    case 'json_object':
      return { ...NONE, fields: JSON_OBJECT, instruction: schemaInstruction(request.schema) }
    case 'tool':
      return canForceTool ? { ...NONE, tool: request.schema } : promptPlan(request)
    default: {
      const format = {
        name: formatName(request.name),
        schema: request.schema,
        ...(request.strict && qualifiesForStrictChat(request.schema) && { strict: true }),
      }
      return { ...NONE, fields: { response_format: { type: 'json_schema', json_schema: format } } }
    }
  }
}

/** Plans how to request JSON from a messages upstream. */
export function planMessagesStructure({ request, mode, canForceTool }: StructureFacts): StructurePlan {
  if (request === null) return NONE
  if (request.kind === 'object') return promptPlan(request)
  switch (mode) {
    case 'native':
    case 'json_schema': {
      const schema = replySchema(request.schema)
      if (schema === null) return promptPlan(request)
      return { ...NONE, fields: { output_config: { format: { type: 'json_schema', schema } } } }
    }
    case 'tool':
      return canForceTool ? { ...NONE, tool: request.schema } : promptPlan(request)
    default:
      return promptPlan(request)
  }
}

function promptPlan(request: StructureRequest): StructurePlan {
  const instruction = request.kind === 'schema' ? schemaInstruction(request.schema) : OBJECT_INSTRUCTION
  return { ...NONE, instruction, unwrapsFence: true }
}

const JSON_OBJECT: JsonObject = { response_format: { type: 'json_object' } }
const OBJECT_INSTRUCTION = 'Reply with one JSON object and nothing else: no explanation, no code fence.'

function schemaInstruction(schema: JsonObject): string {
  return `${OBJECT_INSTRUCTION} The JSON must be valid against this schema:\n${JSON.stringify(schema)}`
}

function formatName(name: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  return legal === '' ? 'reply' : legal
}
