/**
 * Applies the dialect when client and upstream speak the same format. Changes are made as text edits, so every other byte of
 * the body stays as the client sent it.
 */

import { ADAPTERS } from '../dialect/index.ts'
import type { Adapted, DialectFacts } from '../dialect/types.ts'
import { borrows } from '../formats/chat/borrowed.ts'
import { FORMATS } from '../formats/index.ts'
import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { BodyEdit } from '../lib/edit-tree.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../lib/json.ts'
import { editsBetween } from '../lib/json-diff.ts'

export interface SameFormatPlan extends Adapted {
  /** The edits to make to the client's body before it is sent, except for the change of `model`. */
  readonly edits: readonly BodyEdit[]
}

export interface SameFormatCall {
  readonly format: WireName
  readonly body: JsonObject
  readonly entry: Pick<ModelEntry, 'outputTokensMax' | 'contextTokens' | 'capabilities'>
  readonly target: Pick<UpstreamTarget, 'dialect'>
  /** Output cap, in tokens, to add to a body that has none. If null or absent, no cap is added. */
  readonly outputTokensAfforded?: number | null
  /** Beta flags that the client sent (messages format only), in order. */
  readonly betas?: readonly string[]
  /**
   * Returns the content of an envelope (a signed token with sealed reasoning, see `conversation/envelope.ts`) that was issued
   * to this account, and null for any other text. Absent if the body cannot contain envelopes.
   */
  readonly openEnvelope?: (text: string) => JsonValue | null
}

/**
 * Plans the edits. Throws GatewayError for a request that the upstream would reject with an error that makes no sense to the
 * client.
 */
export function planSameFormat(call: SameFormatCall): SameFormatPlan {
  const { format, body, entry, target, outputTokensAfforded = null, betas = [], openEnvelope = () => null } = call
  const { dialect } = target
  const own = FORMATS[format]
  const facts: DialectFacts = {
    dialect,
    formatPath: 'same',
    hasVision: entry.capabilities.includes('vision'),
    outputTokensMax: entry.outputTokensMax,
    contextTokens: entry.contextTokens,
    inputTokensEstimate: 0,
    outputTokensAfforded,
    reasoning: own.readReasoning(body),
    structure: supportsSchemas(dialect) ? null : own.readStructure(body),
    betas,
    stopField: own.stopField,
    place: own.place,
    openEnvelope,
  }
  const adapted = ADAPTERS[format](body, facts)
  return { ...adapted, edits: editsBetween(body, adapted.body) }
}

/**
 * Whether a request can pass through to an upstream of the same format. A chat request is converted instead if it has shapes of
 * other formats; a Responses request, if it uses tool types that the upstream does not support, or asks for JSON output that the
 * upstream cannot produce by itself.
 */
export function passesThrough(format: WireName, body: JsonObject, dialect: DialectFacts['dialect']): boolean {
  if (format === 'chat_completions') return !borrows(body)
  if (format !== 'responses') return true
  if (!supportsSchemas(dialect) && dialect.structuredOutput.method !== 'json_object' && hasFormat(body)) return false
  return dialect.tools.custom === 'native' || !namesOtherTools(body)
}

function hasFormat(body: JsonObject): boolean {
  const type = objectOrNull(objectOrNull(body.text)?.format)?.type
  return type === 'json_schema' || type === 'json_object'
}

const OTHER_TOOLS: ReadonlySet<JsonValue | undefined> = new Set(['custom', 'namespace'])
const OTHER_ITEMS: ReadonlySet<JsonValue | undefined> = new Set([
  'additional_tools',
  'custom_tool_call',
  'tool_search_call',
])

/** Whether the request names tools that the client runs, other than plain functions. */
function namesOtherTools({ tools, input }: JsonObject): boolean {
  const isOther = (tool: JsonValue) =>
    isObject(tool) && (OTHER_TOOLS.has(tool.type) || (tool.type === 'tool_search' && tool.execution === 'client'))
  return (
    arrayOrEmpty(tools).some(isOther) || arrayOrEmpty(input).some(item => isObject(item) && OTHER_ITEMS.has(item.type))
  )
}

/** Whether the upstream supports structured output by JSON schema. */
function supportsSchemas({ structuredOutput: { method } }: DialectFacts['dialect']): boolean {
  return method === 'native' || method === 'json_schema'
}
