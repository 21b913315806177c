/**
 * Rejects requests that the real Responses API rejects, with the same error messages. Unknown item and tool types are let
 * through.
 */

import { checkParameters, checkReplyRoot } from '../chat/check.ts'
import { emptyArray, missing, unknownParameter, unsupported, wrongType, wrongValue } from '../chat/refusals.ts'
import { isObject, type Json, type JsonObject, listOf } from '../json.ts'
import { invalid, type ModelFacts } from '../model.ts'
import { checkItem } from './check-items.ts'

/** Fields of other formats, which are rejected so that tests notice if the gateway forgets to convert one. */
const FOREIGN_FIELDS = [
  'messages', 'max_tokens', 'max_completion_tokens', 'stop', 'stop_sequences', 'n', 'system', 'functions',
  'function_call', 'reasoning_effort', 'thinking', 'output_config', 'context_management', 'verbosity',
] // biome-ignore format: a plain list

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const OUTPUT_TOKENS_MIN = 16

/** Throws ProviderError for the first fault. The caller has already looked up `model`. */
export function checkResponsesRequest(body: JsonObject, facts: ModelFacts): void {
  if (Object.hasOwn(body, 'response_format')) {
    throw invalid(
      "Unsupported parameter: 'response_format'. In the Responses API, this parameter has moved to 'text.format'.",
      { param: 'response_format', code: 'unsupported_parameter' },
    )
  }
  for (const field of FOREIGN_FIELDS) if (Object.hasOwn(body, field)) throw unknownParameter(field)
  for (const field of facts.refuses ?? []) if (Object.hasOwn(body, field)) throw unsupported(field)
  if (typeof body.stream !== 'boolean' && body.stream !== undefined && body.stream !== null) {
    throw wrongType('stream', 'a boolean', body.stream)
  }
  checkOutputTokens(body.max_output_tokens, facts)
  checkReasoning(body.reasoning, facts)
  checkTools(body, facts)
  checkForm(body.text)
  checkInput(body, facts)
  checkInclude(body, facts)
}

function checkOutputTokens(value: Json | undefined, facts: ModelFacts): void {
  if (value === undefined || value === null) return
  if (!Number.isInteger(value)) throw wrongType('max_output_tokens', 'an integer', value)
  if ((value as number) < OUTPUT_TOKENS_MIN) {
    throw invalid(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${OUTPUT_TOKENS_MIN}, but got ${value} instead.`,
      { param: 'max_output_tokens', code: 'integer_below_min_value' },
    )
  }
  const limit = facts.outputTokensMax
  if (limit === null || (value as number) <= limit) return
  throw invalid(
    `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= ${limit}, but got ${value} instead.`,
    { param: 'max_output_tokens', code: 'integer_above_max_value' },
  )
}

function checkInclude(body: JsonObject, facts: ModelFacts): void {
  if (facts.reasoning || !listOf(body.include).includes('reasoning.encrypted_content')) return
  throw invalid('Encrypted content is not supported with this model.', { param: 'include' })
}

function checkReasoning(reasoning: Json | undefined, facts: ModelFacts): void {
  if (reasoning === undefined || reasoning === null) return
  if (!isObject(reasoning)) throw wrongType('reasoning', 'an object', reasoning)
  const { effort } = reasoning
  if (effort === undefined || effort === null) return
  if (!facts.reasoning) throw unsupported('reasoning.effort')
  if (!EFFORTS.includes(String(effort))) throw wrongValue('reasoning.effort', effort, EFFORTS)
}

function checkTools(body: JsonObject, facts: ModelFacts): void {
  const { tools } = body
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools)
  if (tools.length > 0 && !facts.tools) {
    throw invalid('tools is not supported in this model.', { param: 'tools', code: 'unsupported_parameter' })
  }
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`
    if (!isObject(tool)) throw wrongType(at, 'an object', tool)
    if (typeof tool.type !== 'string') throw missing(`${at}.type`)
    if (tool.type !== 'function') continue
    for (const field of ['function', 'input_schema'])
      if (Object.hasOwn(tool, field)) throw unknownParameter(`${at}.${field}`)
    if (typeof tool.name !== 'string') throw missing(`${at}.name`)
    if (tool.parameters === undefined) throw missing(`${at}.parameters`)
    checkParameters(tool, `${at}.parameters`)
  }
  const choice = body.tool_choice
  if (!isObject(choice) || choice.type !== 'function') return
  if (tools.some(tool => isObject(tool) && tool.name === choice.name)) return
  throw invalid(`Tool choice '${choice.name}' not found in 'tools' parameter.`, { param: 'tool_choice' })
}

function checkForm(text: Json | undefined): void {
  if (!isObject(text) || !isObject(text.format)) return
  const { format } = text
  const known = ['text', 'json_object', 'json_schema']
  if (!known.includes(String(format.type))) throw wrongValue('text.format.type', format.type, known)
  if (format.type !== 'json_schema') return
  if (typeof format.name !== 'string') throw missing('text.format.name')
  if (!isObject(format.schema)) throw missing('text.format.schema')
  checkReplyRoot(format.name, format.schema, 'text.format.schema')
  if (format.strict === true && format.schema.type === 'object' && format.schema.additionalProperties !== false) {
    throw invalid(
      `Invalid schema for response_format '${format.name}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
      { param: 'text.format.schema', code: 'invalid_json_schema' },
    )
  }
}

function checkInput(body: JsonObject, facts: ModelFacts): void {
  const { input } = body
  if (input === undefined || input === null) throw missing('input')
  if (typeof input === 'string') return
  if (!Array.isArray(input)) throw wrongType('input', 'one of a string or array of input items', input)
  if (input.length === 0) throw emptyArray('input')
  for (const [index, item] of input.entries())
    checkItem(item, `input[${index}]`, facts, { stored: body.store !== false })
}
