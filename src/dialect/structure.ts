/** Plans how to request JSON output from an upstream, and what to undo in its reply so that the client gets plain JSON. */

import type { StructureRequest } from '../conversation/request.ts'
import type { JsonObject } from '../lib/json.ts'
import { objectRoot, qualifiesForStrictChat, replySchema } from './schemas.ts'
import { type DialectFacts, NOTHING_TO_UNDO, type ReplyFacts } from './types.ts'
import type { Dialect } from './words.ts'

/** Name of the tool that we force models without a JSON mode to call. Its input becomes the reply. */
export const REPLY_TOOL = 'json_reply'

export interface StructurePlan {
  /** Fields to set in the upstream's body. In `output_config`, set only `format`: its other members are the client's. */
  readonly fields: JsonObject
  /** Text to append to the instructions, or null. */
  readonly instruction: string | null
  /** Schema of REPLY_TOOL; null to request JSON in another way. */
  readonly tool: JsonObject | null
  /** Whether the reply may come in a code fence, which must be removed. */
  readonly unwrapsFence: boolean
}

/** Returns what to undo in the reply: renamed tools, the reply tool, the code fence, the reasoning tag, the usage chunk. */
export function replyFactsOf(
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
export function isStructureOurs({ formatPath, structure, dialect }: DialectFacts): boolean {
  if (structure === null) return false
  if (formatPath === 'converted') return true
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
      return { ...NONE, fields: JSON_OBJECT, instruction: schemaInstruction(request) }
    case 'tool':
      return canForceTool ? { ...NONE, tool: describedSchema(request) } : promptPlan(request)
    default: {
      const schema = objectRoot(request.schema)
      if (schema === null) return promptPlan(request)
      const format = {
        name: formatName(request.name),
        ...(request.description !== null && { description: request.description }),
        schema,
        ...(request.strict && qualifiesForStrictChat(schema) && { strict: true }),
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
      const schema = replySchema(describedSchema(request))
      if (schema === null) return promptPlan(request)
      return { ...NONE, fields: { output_config: { format: { type: 'json_schema', schema } } } }
    }
    case 'tool':
      return canForceTool ? { ...NONE, tool: describedSchema(request) } : promptPlan(request)
    default:
      return promptPlan(request)
  }
}

function promptPlan(request: StructureRequest): StructurePlan {
  const instruction = request.kind === 'schema' ? schemaInstruction(request) : OBJECT_INSTRUCTION
  return { ...NONE, instruction, unwrapsFence: true }
}

const JSON_OBJECT: JsonObject = { response_format: { type: 'json_object' } }
const OBJECT_INSTRUCTION = 'Reply with one JSON object and nothing else: no explanation, no code fence.'

type SchemaRequest = StructureRequest & { readonly kind: 'schema' }

function schemaInstruction(request: SchemaRequest): string {
  return `${OBJECT_INSTRUCTION} The JSON must be valid against this schema:\n${JSON.stringify(describedSchema(request))}`
}

/** Returns the schema with the request's own description, for formats that have no field for it. */
function describedSchema({ description, schema }: SchemaRequest): JsonObject {
  if (description === null) return schema
  const descriptions = [description, schema.description].filter(text => typeof text === 'string')
  return { ...schema, description: [...new Set(descriptions)].join('\n\n') }
}

function formatName(name: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  return legal === '' ? 'reply' : legal
}
