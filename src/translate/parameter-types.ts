/** What a parameter must be so that a conversion can carry it: one of a wrong type is refused, never left out in silence. */

import { refuse } from '../conversation/refuse.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import type { ChatFormat } from './translator.ts'

type Kind = 'number' | 'integer' | 'boolean' | 'text' | 'object' | 'list' | 'text or list' | 'text or object'

/** By path; `*` stands for every element of a list. Absent and null are always right. */
type Types = Readonly<Record<string, Kind>>

const REASONING: Types = { thinking: 'object', 'thinking.type': 'text', 'thinking.budget_tokens': 'integer' }
const SAMPLING: Types = { temperature: 'number', top_p: 'number', top_k: 'integer' }

const TYPES: Readonly<Record<ChatFormat, Types>> = {
  messages: {
    ...SAMPLING,
    ...REASONING,
    system: 'text or list',
    stop_sequences: 'list',
    'stop_sequences.*': 'text',
    tools: 'list',
    'tools.*.name': 'text',
    'tools.*.description': 'text',
    'tools.*.input_schema': 'object',
    'tools.*.strict': 'boolean',
    tool_choice: 'object',
    'tool_choice.name': 'text',
    'tool_choice.disable_parallel_tool_use': 'boolean',
    metadata: 'object',
    'metadata.user_id': 'text',
    output_config: 'object',
    'output_config.effort': 'text',
    'output_config.format': 'object',
    output_format: 'object',
  },
  chat_completions: {
    ...SAMPLING,
    ...REASONING,
    stop: 'text or list',
    'stop.*': 'text',
    tools: 'list',
    'tools.*.function.name': 'text',
    'tools.*.function.description': 'text',
    'tools.*.function.parameters': 'object',
    'tools.*.function.strict': 'boolean',
    functions: 'list',
    'functions.*.name': 'text',
    'functions.*.description': 'text',
    'functions.*.parameters': 'object',
    tool_choice: 'text or object',
    function_call: 'text or object',
    parallel_tool_calls: 'boolean',
    'messages.*.tool_calls': 'list',
    response_format: 'object',
    'response_format.type': 'text',
    'response_format.json_schema': 'object',
    'response_format.json_schema.name': 'text',
    'response_format.json_schema.schema': 'object',
    'response_format.json_schema.strict': 'boolean',
    stream_options: 'object',
    'stream_options.include_usage': 'boolean',
    reasoning_effort: 'text',
    reasoning: 'object',
    'reasoning.effort': 'text',
    'reasoning.enabled': 'boolean',
    'reasoning.max_tokens': 'integer',
    enable_thinking: 'boolean',
    thinking_budget: 'integer',
    modalities: 'list',
    user: 'text',
    safety_identifier: 'text',
  },
}

const WORDS: Readonly<Record<Kind, string>> = {
  number: 'Input should be a valid number',
  integer: 'Input should be a valid integer',
  boolean: 'Input should be a valid boolean',
  text: 'Input should be a valid string',
  object: 'Input should be a valid object',
  list: 'Input should be a valid list',
  'text or list': 'Input should be a valid string or list',
  'text or object': 'Input should be a valid string or object',
}

const RULES = {
  messages: rulesOf(TYPES.messages),
  chat_completions: rulesOf(TYPES.chat_completions),
}

interface Rule {
  readonly path: readonly string[]
  readonly kind: Kind
}

function rulesOf(types: Types): readonly Rule[] {
  return Object.entries(types).map(([path, kind]) => ({ path: path.split('.'), kind }))
}

/** Throws GatewayError `invalid_request` with the place in the notation of the client's format. */
export function refuseWrongTypes(body: JsonObject, format: ChatFormat): void {
  for (const { path, kind } of RULES[format]) check(body, path, { kind, format, place: '' })
}

interface Checked {
  readonly kind: Kind
  readonly format: ChatFormat
  readonly place: string
}

function check(value: JsonValue | undefined, [key, ...rest]: readonly string[], at: Checked): void {
  if (value === undefined || value === null) return
  if (key === undefined) {
    if (!isOf(value, at.kind)) refuse(at.place, WORDS[at.kind])
  } else if (key === '*') {
    // What holds others has a rule of its own, or is refused by who reads it.
    if (!Array.isArray(value)) return
    for (const [index, element] of value.entries()) {
      const place = at.format === 'messages' ? `${at.place}.${index}` : `${at.place}[${index}]`
      check(element, rest, { ...at, place })
    }
  } else if (isObject(value) && Object.hasOwn(value, key)) {
    check(value[key], rest, { ...at, place: at.place === '' ? key : `${at.place}.${key}` })
  }
}

function isOf(value: JsonValue, kind: Kind): boolean {
  switch (kind) {
    case 'number':
      return typeof value === 'number'
    case 'integer':
      return Number.isInteger(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'text':
      return typeof value === 'string'
    case 'object':
      return isObject(value)
    case 'list':
      return Array.isArray(value)
    case 'text or list':
      return typeof value === 'string' || Array.isArray(value)
    case 'text or object':
      return typeof value === 'string' || isObject(value)
  }
}
