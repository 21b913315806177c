/** Refuses requests as the real Chat Completions API does, with the same error text. check-messages.ts checks `messages`. */

import { isObject, type Json, type JsonObject, listOf } from '../json.ts'
import { invalid, type ModelFacts } from '../model.ts'
import { checkChatMessages } from './check-messages.ts'
import { emptyArray, missing, tooLong, unknownParameter, unsupported, wrongType, wrongValue } from './refusals.ts'

/**
 * Fields of other formats. They are refused, because a body with any of them was not fully converted. Fields that no format
 * knows are accepted.
 */
const FOREIGN_FIELDS = [
  'system', 'stop_sequences', 'output_config', 'output_format', 'context_management', 'mcp_servers', 'container',
  'thread', 'betas', 'cache_control', 'input', 'instructions', 'max_output_tokens', 'include', 'text',
] // biome-ignore format: a plain list

const FUNCTION_NAME = /^[a-zA-Z0-9_-]+$/
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Throws ProviderError for the first fault. The caller has already looked up `model`. */
export function checkChatRequest(body: JsonObject, facts: ModelFacts): void {
  for (const field of FOREIGN_FIELDS) if (Object.hasOwn(body, field)) throw unknownParameter(field)
  if (facts.topK !== true && Object.hasOwn(body, 'top_k')) throw unknownParameter('top_k')
  for (const field of facts.refuses ?? []) if (Object.hasOwn(body, field)) throw unsupported(field)
  checkNumbers(body, facts)
  checkStops(body.stop)
  checkTools(body, facts)
  checkReasoning(body, facts)
  checkEffortBesideTools(body, facts)
  checkForm(body.response_format)
  if (body.stream_options !== undefined && body.stream_options !== null && body.stream !== true) {
    throw invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: 'stream_options',
    })
  }
  checkChatMessages(body, facts)
}

/** Refuses reasoning effort combined with tools, with the error text that users of the real models have reported. */
function checkEffortBesideTools(body: JsonObject, { effortBesideTools }: ModelFacts): void {
  if (effortBesideTools === undefined || listOf(body.tools).length === 0) return
  const { reasoning_effort: effort } = body
  if (effort === 'none' || (effortBesideTools === 'refused' && (effort === undefined || effort === null))) return
  throw invalid(
    `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. Please use /v1/responses instead.`,
    { param: 'reasoning_effort', code: 'unsupported_parameter' },
  )
}

function checkNumbers(body: JsonObject, facts: ModelFacts): void {
  if (typeof body.stream !== 'boolean' && body.stream !== undefined && body.stream !== null) {
    throw wrongType('stream', 'a boolean', body.stream)
  }
  checkNumber(body, 'temperature', 0, 2)
  checkNumber(body, 'top_p', 0, 1)
  checkNumber(body, 'frequency_penalty', -2, 2)
  checkNumber(body, 'presence_penalty', -2, 2)
  checkInteger(body, 'n', 1, 8)
  const fields = ['max_tokens', 'max_completion_tokens'].filter(
    field => body[field] !== undefined && body[field] !== null,
  )
  if (fields.length === 2) {
    throw invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", {
      param: 'max_completion_tokens',
    })
  }
  for (const field of fields) {
    checkInteger(body, field, 1, Number.MAX_SAFE_INTEGER)
    const limit = facts.outputTokensMax
    if (limit !== null && (body[field] as number) > limit) {
      throw invalid(
        `${field} is too large: ${body[field]}. This model supports at most ${limit} completion tokens, whereas you provided ${body[field]}.`,
        { param: field, code: 'invalid_value' },
      )
    }
  }
}

function checkNumber(body: JsonObject, field: string, least: number, most: number): void {
  const value = body[field]
  if (value === undefined || value === null) return
  if (typeof value !== 'number') throw wrongType(field, 'a decimal', value)
  checkBounds(field, value, 'decimal', { least, most })
}

function checkInteger(body: JsonObject, field: string, least: number, most: number): void {
  const value = body[field]
  if (value === undefined || value === null) return
  if (!Number.isInteger(value)) throw wrongType(field, 'an integer', value)
  checkBounds(field, value as number, 'integer', { least, most })
}

function checkBounds(
  field: string,
  value: number,
  kind: string,
  { least, most }: { least: number; most: number },
): void {
  if (value < least) {
    throw invalid(
      `Invalid '${field}': ${kind} below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
      {
        param: field,
        code: `${kind}_below_min_value`,
      },
    )
  }
  if (value > most) {
    throw invalid(
      `Invalid '${field}': ${kind} above maximum value. Expected a value <= ${most}, but got ${value} instead.`,
      {
        param: field,
        code: `${kind}_above_max_value`,
      },
    )
  }
}

function checkStops(stop: Json | undefined): void {
  if (stop === undefined || stop === null || typeof stop === 'string') return
  if (!Array.isArray(stop)) throw wrongType('stop', 'one of a string or array of strings', stop)
  if (stop.length > 4) {
    throw invalid(
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
      { param: 'stop', code: 'array_above_max_length' },
    )
  }
  for (const [index, entry] of stop.entries())
    if (typeof entry !== 'string') throw wrongType(`stop[${index}]`, 'a string', entry)
}

function checkTools(body: JsonObject, facts: ModelFacts): void {
  const { tools, tool_choice: choice } = body
  const absent = tools === undefined || tools === null
  if (absent) {
    if (choice !== undefined && choice !== null && choice !== 'none') {
      throw invalid("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", {
        param: 'tool_choice',
      })
    }
    if (body.parallel_tool_calls !== undefined && body.parallel_tool_calls !== null) {
      throw invalid(
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        {
          param: 'parallel_tool_calls',
        },
      )
    }
    return
  }
  if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools)
  if (tools.length === 0) throw emptyArray('tools')
  if (!facts.tools)
    throw invalid('tools is not supported in this model.', { param: 'tools', code: 'unsupported_parameter' })
  const names = tools.map((tool, index) => checkTool(tool, `tools[${index}]`))
  checkChoice(choice, names)
}

function checkTool(tool: Json, at: string): string {
  if (!isObject(tool)) throw wrongType(at, 'an object', tool)
  if (tool.type === undefined) throw missing(`${at}.type`)
  if (tool.type === 'custom' && isObject(tool.custom)) return String(tool.custom.name)
  if (tool.type !== 'function') throw wrongValue(`${at}.type`, tool.type, ['function', 'custom'])
  for (const field of ['input_schema', 'cache_control', 'name', 'defer_loading', 'eager_input_streaming']) {
    if (Object.hasOwn(tool, field)) throw unknownParameter(`${at}.${field}`)
  }
  const made = tool.function
  if (!isObject(made)) throw missing(`${at}.function`)
  if (typeof made.name !== 'string') throw missing(`${at}.function.name`)
  if (!FUNCTION_NAME.test(made.name)) {
    throw invalid(
      `Invalid '${at}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      { param: `${at}.function.name`, code: 'invalid_value' },
    )
  }
  if (made.name.length > 64) throw tooLong(`${at}.function.name`, made.name.length)
  checkParameters(made, `${at}.function.parameters`)
  return made.name
}

const NOT_AT_THE_ROOT = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

/** Checks the parameters of a function, whose path is `at`. */
export function checkParameters(made: JsonObject, at: string): void {
  const { parameters, name } = made
  if (parameters === undefined || parameters === null) return
  const refuse = (why: string) =>
    invalid(`Invalid schema for function '${name}': ${why}`, { param: at, code: 'invalid_function_parameters' })
  if (!isObject(parameters)) throw wrongType(at, 'an object', parameters)
  if (Object.keys(parameters).length > 0 && parameters.type !== 'object') {
    throw refuse(`schema must be a JSON Schema of 'type: "object"', got 'type: "${parameters.type ?? 'None'}"'.`)
  }
  if (NOT_AT_THE_ROOT.some(key => parameters[key] !== undefined)) {
    throw refuse("schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.")
  }
  const isOpen = parameters.properties === undefined && parameters.additionalProperties === undefined
  if (parameters.type === 'object' && isOpen) throw refuse('In context=(), object schema missing properties.')
  if (made.strict !== true) return
  if (parameters.additionalProperties !== false) {
    throw refuse("In context=(), 'additionalProperties' is required to be supplied and to be false.")
  }
  const required = new Set(listOf(parameters.required))
  const left = Object.keys(isObject(parameters.properties) ? parameters.properties : {}).find(key => !required.has(key))
  if (left !== undefined) {
    throw refuse(
      `In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '${left}'.`,
    )
  }
}

function checkChoice(choice: Json | undefined, names: readonly string[]): void {
  if (choice === undefined || choice === null) return
  if (typeof choice === 'string') {
    if (!['none', 'auto', 'required'].includes(choice))
      throw wrongValue('tool_choice', choice, ['none', 'auto', 'required'])
    return
  }
  if (!isObject(choice)) throw wrongType('tool_choice', 'one of a string or an object', choice)
  if (choice.type === 'allowed_tools' || choice.type === 'custom') return
  if (choice.type !== 'function')
    throw wrongValue('tool_choice.type', choice.type, ['function', 'allowed_tools', 'custom'])
  const name = isObject(choice.function) ? choice.function.name : undefined
  if (typeof name !== 'string') throw missing('tool_choice.function')
  if (!names.includes(name)) {
    throw invalid(`Invalid value for 'tool_choice': no tool named '${name}' was specified in the 'tools' parameter.`, {
      param: 'tool_choice',
    })
  }
}

function checkReasoning(body: JsonObject, facts: ModelFacts): void {
  const effort = body.reasoning_effort
  if (effort === undefined || effort === null) return
  if (!facts.reasoning) {
    throw invalid('Unrecognized request argument supplied: reasoning_effort', { param: 'reasoning_effort' })
  }
  if (!EFFORTS.includes(String(effort))) throw wrongValue('reasoning_effort', effort, EFFORTS)
}

export function checkReplyRoot(name: string, { type = 'None' }: JsonObject, param: string): void {
  if (type === 'object') return
  throw invalid(
    `Invalid schema for response_format '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`,
    { param },
  )
}

function checkForm(form: Json | undefined): void {
  if (form === undefined || form === null) return
  if (!isObject(form)) throw wrongType('response_format', 'an object', form)
  if (form.type === 'text' || form.type === 'json_object') return
  if (form.type !== 'json_schema')
    throw wrongValue('response_format.type', form.type, ['json_object', 'json_schema', 'text'])
  const made = form.json_schema
  if (!isObject(made)) throw missing('response_format.json_schema')
  if (typeof made.name !== 'string') throw missing('response_format.json_schema.name')
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(made.name)) {
    throw invalid(
      "Invalid 'response_format.json_schema.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      { param: 'response_format.json_schema.name', code: 'invalid_value' },
    )
  }
  if (!isObject(made.schema)) throw missing('response_format.json_schema.schema')
  checkReplyRoot(made.name, made.schema, 'response_format')
  if (made.strict === true && made.schema.type === 'object' && made.schema.additionalProperties !== false) {
    throw invalid(
      `Invalid schema for response_format '${made.name}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
      { param: 'response_format' },
    )
  }
}
