/** Edits of a chat request for a chat upstream. */

import type { ReasoningRequest } from '../conversation/request.ts'
import { readReasoning as readChatReasoning } from '../formats/chat/read-reasoning.ts'
import { readStructure } from '../formats/chat/read-tools.ts'
import {
  arrayOrEmpty,
  atPointer,
  isObject,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectAtPointer,
  objectOrNull,
} from '../lib/json.ts'
import type { BodyEdit } from './body-edit.ts'
import type { Dialect } from './dialect.ts'
import { onlyName } from './forced-choice.ts'
import { clampOutputTokens } from './output-cap.ts'
import { planChatReasoning, planForcedTool, type ReasoningPlan } from './reasoning-plan.ts'
import { isSet, remove, type SameFormatFacts, set } from './same-format-messages.ts'
import { takesSampling } from './sampling.ts'
import { planChatStructure } from './structure.ts'

export interface SameFormatPlan {
  /** In order; no two touch the same place. `model` is not among them. */
  readonly edits: readonly BodyEdit[]
  /** The client did not ask for the usage chunk of a chat stream: it must not see the one that may come. */
  readonly hidesUsageChunk: boolean
  /** Beta flags to send: those of the client that may pass, and those that the edited body needs. */
  readonly betas: readonly string[]
}

export function chatEdits(body: JsonObject, facts: SameFormatFacts): SameFormatPlan {
  const { dialect } = facts
  const stream = streamEdits(body, dialect)
  const { plan, choice } = reasoningPlan(body, dialect)
  return {
    edits: [
      ...outputCapEdits(body, facts),
      ...samplingEdits(body, dialect, plan.reasons),
      ...reasoningEdits(body, dialect, plan),
      ...choice,
      ...toolEdits(body, dialect),
      ...messageEdits(body, dialect),
      ...stream.edits,
    ],
    hidesUsageChunk: stream.hidesUsageChunk,
    betas: [],
  }
}

/** One field, under the name that the upstream knows, within the model's limit. */
function outputCapEdits(
  body: JsonObject,
  { dialect, outputTokensMax, outputTokensAfforded }: SameFormatFacts,
): BodyEdit[] {
  const { capField, capMin } = dialect.output
  const other = capField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const wanted = numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens) ?? outputTokensAfforded
  const capped = wanted === null || wanted < 1 ? wanted : clampOutputTokens(wanted, { outputTokensMax, capMin })
  const edits = body[other] === undefined ? [] : [remove(`/${other}`)]
  return capped !== null && capped !== body[capField] ? [...edits, set(`/${capField}`, capped)] : edits
}

const SAMPLING_FIELDS = [
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
]

function samplingEdits(body: JsonObject, dialect: Dialect, reasons: boolean): BodyEdit[] {
  if (!takesSampling(dialect.sampling, reasons)) {
    return SAMPLING_FIELDS.filter(field => body[field] !== undefined).map(field => remove(`/${field}`))
  }
  const temperature = numberOrNull(body.temperature)
  const edits: BodyEdit[] = []
  if (temperature !== null && temperature > dialect.sampling.temperatureMax) {
    edits.push(set('/temperature', dialect.sampling.temperatureMax))
  }
  const both = temperature !== null && isSet(body.top_p)
  if (dialect.sampling.parameters === 'temperature_xor_top_p' && both) edits.push(remove('/top_p'))
  if (!dialect.sampling.topK && body.top_k !== undefined) edits.push(remove('/top_k'))
  return edits
}

interface ReasoningAndChoice {
  readonly plan: ReasoningPlan
  readonly choice: readonly BodyEdit[]
}

function reasoningPlan(body: JsonObject, dialect: Dialect): ReasoningAndChoice {
  const hasTools = arrayOrEmpty(body.tools).length > 0
  const circumstances = { stream: body.stream === true, hasTools }
  const reason = (wish: ReasoningRequest) => planChatReasoning(wish, dialect.reasoning, circumstances)
  const wish = readChatReasoning(body)
  const wantsForce =
    hasTools && (body.tool_choice === 'required' || objectOrNull(body.tool_choice)?.type === 'function')
  if (!wantsForce) return { plan: reason(wish), choice: [] }
  if (dialect.tools.forced === 'named_only') return { plan: reason(wish), choice: namedChoice(body) }
  const { plan, forced } = planForcedTool(wish, dialect, reason)
  return { plan, choice: forced ? [] : [set('/tool_choice', 'auto')] }
}

/** Where only a named tool can be forced, the only one there is gets named. */
function namedChoice({ tools, tool_choice: choice }: JsonObject): BodyEdit[] {
  if (choice !== 'required') return []
  const name = onlyName(arrayOrEmpty(tools).map(tool => objectOrNull(objectOrNull(tool)?.function)?.name))
  return [set('/tool_choice', name === null ? 'auto' : { type: 'function', function: { name } })]
}

const REASONING_FIELDS = ['reasoning_effort', 'thinking', 'enable_thinking', 'thinking_budget', 'reasoning']

/**
 * The fields that the plan gives, and none of the others. A field that the client wrote in the upstream's own way stays as
 * it is, with whatever else it holds.
 */
function reasoningEdits(body: JsonObject, dialect: Dialect, { fields }: ReasoningPlan): BodyEdit[] {
  return REASONING_FIELDS.flatMap((field): BodyEdit[] => {
    const planned = fields[field]
    const given = body[field]
    if (planned === undefined) return given === undefined || isUpstreamsOwn(field, dialect) ? [] : [remove(`/${field}`)]
    return saysTheSame(given, planned) ? [] : [set(`/${field}`, planned)]
  })
}

/** A field that the upstream reads: what the plan has nothing to say about stays. */
function isUpstreamsOwn(field: string, { reasoning }: Dialect): boolean {
  switch (field) {
    case 'thinking':
      return reasoning.parameter === 'thinking_type'
    case 'enable_thinking':
      return reasoning.parameter === 'enable_thinking'
    case 'thinking_budget':
      return reasoning.budgetField === 'thinking_budget'
    default:
      return false
  }
}

function saysTheSame(given: JsonValue | undefined, planned: JsonValue): boolean {
  if (isObject(given) && isObject(planned)) return given.type === planned.type
  return given === planned
}

function toolEdits(body: JsonObject, dialect: Dialect): BodyEdit[] {
  const edits: BodyEdit[] = []
  if (!dialect.tools.parallelFlag && body.parallel_tool_calls !== undefined) edits.push(remove('/parallel_tool_calls'))
  arrayOrEmpty(body.tools).forEach((tool, index) => {
    const fn = isObject(tool) ? objectOrNull(tool.function) : null
    const place = `/tools/${index}/function`
    if (dialect.tools.strict === 'drop' && fn?.strict !== undefined) edits.push(remove(`${place}/strict`))
    const hasMetaSchema = objectOrNull(fn?.parameters)?.$schema !== undefined
    if (dialect.tools.schema === 'no_meta_schema' && hasMetaSchema) edits.push(remove(`${place}/parameters/$schema`))
  })
  return edits
}

function messageEdits(body: JsonObject, dialect: Dialect): BodyEdit[] {
  const messages = arrayOrEmpty(body.messages)
  const first = messages.findIndex(
    message => isObject(message) && message.role !== 'system' && message.role !== 'developer',
  )
  const edits = messages.flatMap((message, index) => {
    if (!isObject(message)) return []
    const place = `/messages/${index}`
    if (message.role === 'assistant') return assistantEdits(message, place, dialect)
    const isSystem = message.role === 'system' || message.role === 'developer'
    if (isSystem && dialect.turns.midSystem === 'user_text' && first >= 0 && index > first)
      return [set(`${place}/role`, 'user')]
    return message.role === 'developer' && dialect.turns.systemRole === 'system' ? [set(`${place}/role`, 'system')] : []
  })
  return [...edits, ...structureEdits(body, dialect)]
}

/** Earlier reasoning and signatures, as the upstream demands or refuses them. */
function assistantEdits(message: JsonObject, place: string, dialect: Dialect): BodyEdit[] {
  const edits: BodyEdit[] = []
  const fields = ['reasoning_content', 'reasoning'] as const
  if (dialect.reasoning.echo === 'never') {
    edits.push(...fields.filter(field => message[field] !== undefined).map(field => remove(`${place}/${field}`)))
  }
  const field = dialect.reasoning.field
  const placeholder = dialect.reasoning.echoPlaceholder ?? ''
  const isKnown = isSet(message[field]) && (message[field] !== '' || placeholder === '')
  if (dialect.reasoning.echo === 'always' && field !== 'content_parts' && !isKnown) {
    edits.push(set(`${place}/${field}`, placeholder))
  }
  const call = arrayOrEmpty(message.tool_calls)[0]
  const { path, placeholder: signature } = dialect.tools.signature
  const [key] = path === null ? [] : Object.keys(objectAtPointer(path, null))
  if (isObject(call) && path !== null && signature !== null && key !== undefined) {
    const nested = objectAtPointer(path, signature)[key]
    const isMissing = atPointer(call, path) === undefined && call[key] === undefined
    if (isMissing && nested !== undefined) edits.push(set(`${place}/tool_calls/0/${key}`, nested))
  }
  return edits
}

/** A JSON schema for a model that only knows JSON objects, or no such field: told in the first message. */
function structureEdits(body: JsonObject, dialect: Dialect): BodyEdit[] {
  const mode = dialect.structuredOutput.method
  if (mode !== 'json_object' && mode !== 'prompt') return []
  const wish = readStructure(body)
  if (wish === null || (wish.kind === 'object' && mode === 'json_object')) return []
  const { fields, instruction } = planChatStructure({ wish, mode, canForceTool: false })
  const content = objectOrNull(arrayOrEmpty(body.messages)[0])?.content
  const told =
    typeof content === 'string'
      ? `${content}\n\n${instruction}`
      : [...arrayOrEmpty(content), { type: 'text', text: instruction }]
  const format = fields.response_format
  return [
    format === undefined ? remove('/response_format') : set('/response_format', format),
    set('/messages/0/content', told),
  ]
}

function streamEdits(body: JsonObject, { usage }: Dialect): Pick<SameFormatPlan, 'edits' | 'hidesUsageChunk'> {
  if (body.stream !== true) return { edits: [], hidesUsageChunk: false }
  const options = objectOrNull(body.stream_options)
  const wantsUsage = options?.include_usage === true
  if (!usage.streamOptions) {
    const edits = body.stream_options === undefined ? [] : [remove('/stream_options')]
    return { edits, hidesUsageChunk: !wantsUsage }
  }
  if (wantsUsage) return { edits: [], hidesUsageChunk: false }
  const edit =
    options === null ? set('/stream_options', { include_usage: true }) : set('/stream_options/include_usage', true)
  return { edits: [edit], hidesUsageChunk: true }
}
