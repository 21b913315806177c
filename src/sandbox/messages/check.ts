/** Refuses requests as the real Messages API does, with the same error text. check-turns.ts checks `messages`. */

import { isObject, type Json, type JsonObject, listOf } from '../json.ts'
import { invalid, type ModelFacts } from '../model.ts'
import { checkTurns } from './check-turns.ts'

/**
 * Fields of other formats. They are refused, because a body with any of them was not fully converted. Fields that no format
 * knows are accepted.
 */
const FOREIGN_FIELDS = [
  'stop', 'max_completion_tokens', 'response_format', 'reasoning_effort', 'stream_options', 'n', 'frequency_penalty',
  'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'seed', 'user', 'parallel_tool_calls', 'functions',
  'function_call', 'store', 'verbosity', 'prediction', 'modalities', 'audio', 'input', 'instructions', 'reasoning',
  'max_output_tokens', 'include', 'text', 'prompt_cache_key', 'safety_identifier',
] // biome-ignore format: a plain list

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

/** Throws ProviderError for the first fault. The caller has already looked up `model`. */
export function checkMessagesRequest(body: JsonObject, facts: ModelFacts): void {
  for (const field of FOREIGN_FIELDS)
    if (Object.hasOwn(body, field)) throw invalid(`${field}: Extra inputs are not permitted`)
  for (const field of facts.refuses ?? []) {
    if (Object.hasOwn(body, field)) throw invalid(`\`${field}\` is not supported for this model`)
  }
  checkThread(body)
  checkEndUser(body.metadata)
  checkNumbers(body, facts)
  checkSystem(body.system)
  checkTools(body, facts)
  checkThinking(body, facts)
  checkOutputConfig(body.output_config, facts)
  checkTurns(body, facts)
  checkCacheBreakpoints(body)
}

/** Refuses `thread`, so that clients repeat the call with the whole history, as they do wherever threads are unsupported. */
function checkThread(body: JsonObject): void {
  if (!isObject(body.thread)) return
  throw invalid('thread: message threads are not supported here', {
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  })
}

/** Refuses personal data as the id of the end user. */
function checkEndUser(metadata: Json | undefined): void {
  const id = isObject(metadata) ? metadata.user_id : undefined
  if (typeof id !== 'string' || !id.includes('@')) return
  throw invalid(
    'metadata.user_id: user_id appears to contain an email address. Please send a uuid or hash value instead.',
  )
}

function checkNumbers(body: JsonObject, facts: ModelFacts): void {
  const { max_tokens: maxTokens, stream, temperature, top_p: topP, top_k: topK, stop_sequences: stops } = body
  if (maxTokens === undefined) throw invalid('max_tokens: Field required')
  if (!Number.isInteger(maxTokens)) throw invalid('max_tokens: Input should be a valid integer')
  if ((maxTokens as number) < 0) throw invalid('max_tokens: Input should be greater than or equal to 0')
  const limit = facts.outputTokensMax
  if (limit !== null && (maxTokens as number) > limit) {
    throw invalid(
      `max_tokens: ${maxTokens} > ${limit}, which is the maximum allowed number of output tokens for ${body.model}`,
    )
  }
  if (stream !== undefined && typeof stream !== 'boolean') throw invalid('stream: Input should be a valid boolean')
  checkRange('temperature', temperature)
  checkRange('top_p', topP)
  if (topK !== undefined && !Number.isInteger(topK)) throw invalid('top_k: Input should be a valid integer')
  if (stops !== undefined && !Array.isArray(stops)) throw invalid('stop_sequences: Input should be a valid list')
  for (const [index, stop] of listOf(stops).entries()) {
    if (typeof stop !== 'string') throw invalid(`stop_sequences.${index}: Input should be a valid string`)
    if (stop.trim() === '') throw invalid('stop_sequences: each stop sequence must contain non-whitespace')
  }
}

function checkRange(name: string, value: Json | undefined): void {
  if (value === undefined) return
  if (typeof value !== 'number') throw invalid(`${name}: Input should be a valid number`)
  if (value < 0 || value > 1) throw invalid(`${name}: range: 0..1`)
}

function checkSystem(system: Json | undefined): void {
  if (system === undefined || typeof system === 'string') return
  if (!Array.isArray(system)) throw invalid('system: Input should be a valid list')
  for (const [index, block] of system.entries()) {
    if (!isObject(block) || block.type !== 'text') throw invalid(`system.${index}.type: Input should be 'text'`)
    if (typeof block.text !== 'string') throw invalid(`system.${index}.text: Input should be a valid string`)
    if (block.text === '') throw invalid('system: text content blocks must be non-empty')
  }
}

function checkTools(body: JsonObject, facts: ModelFacts): void {
  if (body.tools !== undefined && !Array.isArray(body.tools)) throw invalid('tools: Input should be a valid list')
  const tools = listOf(body.tools)
  if (tools.length > 0 && !facts.tools) throw invalid('tools: this model does not support tool use')
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) checkTool(tool, index, names)
  checkToolChoice(body.tool_choice, names)
}

function checkTool(tool: Json, index: number, names: Set<string>): void {
  if (!isObject(tool))
    throw invalid(`tools.${index}: Input should be a valid dictionary or object to extract fields from`)
  if (tool.type === 'function') {
    throw invalid(
      `tools.${index}: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom', …`,
    )
  }
  const at = `tools.${index}.${typeof tool.type === 'string' ? tool.type : 'custom'}`
  if (typeof tool.name !== 'string' && tool.type !== 'mcp_toolset') throw invalid(`${at}.name: Field required`)
  const isCustom = tool.type === undefined || tool.type === null || tool.type === 'custom'
  if (isCustom) {
    const name = tool.name as string
    if (!TOOL_NAME.test(name)) throw invalid(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
    if (Object.hasOwn(tool, 'function')) throw invalid(`${at}.function: Extra inputs are not permitted`)
    if (Object.hasOwn(tool, 'parameters')) throw invalid(`${at}.parameters: Extra inputs are not permitted`)
    if (!isObject(tool.input_schema)) throw invalid(`${at}.input_schema: Field required`)
    if (tool.input_schema.type === undefined) throw invalid(`${at}.input_schema.type: Field required`)
    if (tool.input_schema.type !== 'object') throw invalid(`${at}.input_schema.type: Input should be 'object'`)
    if (['oneOf', 'allOf', 'anyOf'].some(key => Object.hasOwn(tool.input_schema as JsonObject, key))) {
      throw invalid(`${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`)
    }
  }
  if (typeof tool.name !== 'string') return
  if (names.has(tool.name)) throw invalid('tools: Tool names must be unique.')
  names.add(tool.name)
}

function checkToolChoice(choice: Json | undefined, names: ReadonlySet<string>): void {
  if (choice === undefined) return
  if (!isObject(choice)) {
    throw invalid('tool_choice: Input should be a valid dictionary or object to extract fields from')
  }
  if (names.size === 0) throw invalid('tool_choice: may only be specified while providing tools')
  if (!['auto', 'any', 'tool', 'none'].includes(String(choice.type))) {
    throw invalid(
      `tool_choice: Input tag '${choice.type}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`,
    )
  }
  if (choice.type === 'tool' && !names.has(String(choice.name))) {
    throw invalid(`tool_choice: Tool '${choice.name}' not found in provided tools`)
  }
  if (choice.type === 'none' && Object.hasOwn(choice, 'disable_parallel_tool_use')) {
    throw invalid('tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted')
  }
}

function checkThinking(body: JsonObject, facts: ModelFacts): void {
  const thinking = body.thinking
  if (thinking === undefined) return
  if (!isObject(thinking))
    throw invalid('thinking: Input should be a valid dictionary or object to extract fields from')
  const type = thinking.type
  if (type === 'disabled') return
  if (type !== 'enabled' && type !== 'adaptive' && type !== 'between_tools') {
    throw invalid(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'`,
    )
  }
  if (!facts.reasoning) {
    throw invalid(
      type === 'enabled'
        ? 'thinking is not supported for this model'
        : 'adaptive thinking is not supported on this model',
    )
  }
  if (type === 'enabled') checkBudget(thinking.budget_tokens, body.max_tokens as number)
  if (typeof body.temperature === 'number' && body.temperature !== 1) {
    throw invalid('`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.')
  }
  if (body.top_k !== undefined) throw invalid('`top_k` must be unset when thinking is enabled or in adaptive mode.')
  const choice = isObject(body.tool_choice) ? body.tool_choice.type : undefined
  if (type === 'enabled' && (choice === 'any' || choice === 'tool')) {
    throw invalid('Thinking may not be enabled when tool_choice forces tool use.')
  }
}

function checkBudget(budget: Json | undefined, maxTokens: number): void {
  if (!Number.isInteger(budget)) throw invalid('thinking.enabled.budget_tokens: Field required')
  if ((budget as number) < 1024) {
    throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  }
  if ((budget as number) >= maxTokens) throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`.')
}

function checkOutputConfig(config: Json | undefined, facts: ModelFacts): void {
  if (config === undefined) return
  if (!isObject(config))
    throw invalid('output_config: Input should be a valid dictionary or object to extract fields from')
  if (config.effort !== undefined && config.effort !== null) {
    if (!EFFORTS.includes(String(config.effort))) {
      throw invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
    }
    if (!facts.reasoning) throw invalid('This model does not support the effort parameter.')
  }
  if (config.format === undefined || config.format === null) return
  if (!isObject(config.format) || config.format.type !== 'json_schema') {
    throw invalid("output_config.format.type: Input should be 'json_schema'")
  }
  if (!isObject(config.format.schema)) throw invalid('output_config.format.schema: Field required')
  checkClosed(config.format.schema, 0)
}

/** Throws unless every object of the schema forbids additional properties, as structured output requires. */
function checkClosed(schema: Json | undefined, depth: number): void {
  if (!isObject(schema) || depth > 40) return
  const isOpenObject = schema.type === 'object' && schema.additionalProperties !== false
  if (isOpenObject) {
    throw invalid(
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    )
  }
  for (const part of ['properties', '$defs', 'definitions']) {
    if (isObject(schema[part])) for (const inner of Object.values(schema[part])) checkClosed(inner, depth + 1)
  }
  checkClosed(schema.items, depth + 1)
  for (const part of ['anyOf', 'allOf', 'oneOf'])
    for (const inner of listOf(schema[part])) checkClosed(inner, depth + 1)
}

function checkCacheBreakpoints(body: JsonObject): void {
  let breakpoints = isObject(body.cache_control) ? 1 : 0
  const visit = (block: Json) => {
    if (!isObject(block)) return
    if (isObject(block.cache_control)) breakpoints += 1
    for (const inner of listOf(block.content)) visit(inner)
  }
  for (const list of [body.system, body.tools, body.messages]) for (const block of listOf(list)) visit(block)
  if (breakpoints > 4) throw invalid(`A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`)
}
