/**
 * A provider that calls itself Anthropic-compatible but has five quirks. It replies with 400 to anything it does not know:
 *
 * 1. the credential is `authorization: Bearer`, and no beta flag may be sent;
 * 2. thinking is `{type: adaptive}` with `output_config.effort` `low` or `high`; there are no budgets;
 * 3. there is no `cache_control` anywhere, and no `metadata`;
 * 4. there is no `output_config.format` and no `strict`: structured output needs a tool call or a schema in the system prompt;
 * 5. no tool can be forced while the model thinks, and there is no `top_k`.
 */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts'
import {
  ANSWER,
  type Double,
  OBJECT,
  onlyKeys,
  Refusal,
  refuseUnless,
  startDouble,
  THOUGHT,
  TOOL_INPUT,
  USED,
} from './double.ts'

const MODEL = 'harbour-1'

export function startHarbour(): Promise<Double> {
  return startDouble({
    answer(call) {
      if (call.headers.authorization !== 'Bearer harbour-secret') throw new Refusal(401, 'unknown credential')
      refuseUnless(call.headers['x-api-key'] === undefined, 'x-api-key: not supported')
      refuseUnless(call.headers['anthropic-beta'] === undefined, 'anthropic-beta: not supported')
      if (call.path !== '/anthropic/v1/messages') throw new Refusal(404, `no such path: ${call.path}`)
      checkBody(call.body)
      const blocks = blocksFor(call.body)
      return { body: call.body.stream === true ? eventsOf(blocks) : wholeOf(blocks) }
    },
    errorBody: ({ status, message }) => ({
      type: 'error',
      error: { type: status === 400 ? 'invalid_request_error' : 'authentication_error', message },
    }),
  })
}

const FIELDS = [
  'model', 'max_tokens', 'system', 'messages', 'stream', 'stop_sequences', 'temperature', 'top_p', 'tools', 'tool_choice',
  'thinking', 'output_config',
] // biome-ignore format: a plain list

function checkBody(body: JsonObject): void {
  onlyKeys(body, FIELDS, '')
  refuseUnless(body.model === MODEL, `no such model: ${String(body.model)}`)
  refuseUnless(typeof body.max_tokens === 'number', 'max_tokens: required')
  for (const part of arrayOrEmpty(body.system)) onlyKeys(part, ['type', 'text'], 'system')
  for (const tool of arrayOrEmpty(body.tools)) onlyKeys(tool, ['name', 'description', 'input_schema'], 'tools')
  const thinks = body.thinking !== undefined && (body.thinking as JsonObject).type !== 'disabled'
  if (body.thinking !== undefined) {
    const { type } = onlyKeys(body.thinking, ['type', 'display'], 'thinking')
    refuseUnless(type === 'adaptive' || type === 'disabled', 'thinking.type: adaptive or disabled')
  }
  if (body.output_config !== undefined) {
    const { effort } = onlyKeys(body.output_config, ['effort'], 'output_config')
    refuseUnless(effort === 'low' || effort === 'high', 'output_config.effort: low or high')
  }
  if (body.tool_choice !== undefined) {
    const { type } = onlyKeys(body.tool_choice, ['type', 'name', 'disable_parallel_tool_use'], 'tool_choice')
    refuseUnless(!thinks || type === 'auto' || type === 'none', 'tool_choice: no tool can be forced while thinking')
  }
  for (const [index, message] of arrayOrEmpty(body.messages).entries()) checkMessage(message, `messages[${index}]`)
}

function checkMessage(message: JsonValue, place: string): void {
  const { role, content } = onlyKeys(message, ['role', 'content'], place)
  refuseUnless(role === 'user' || role === 'assistant', `${place}.role: user or assistant`)
  for (const block of arrayOrEmpty(content)) {
    refuseUnless(isObject(block) && block.cache_control === undefined, `${place}.content.cache_control: not supported`)
    if (block.type === 'thinking') refuseUnless(block.signature === 'sig-1', `${place}.content: unknown signature`)
  }
}

function blocksFor(body: JsonObject): JsonObject[] {
  const thinks = isObject(body.thinking) && body.thinking.type !== 'disabled'
  const thought = thinks ? [{ type: 'thinking', thinking: THOUGHT, signature: 'sig-1' }] : []
  const last = arrayOrEmpty(body.messages).at(-1)
  const isAnswered =
    isObject(last) && arrayOrEmpty(last.content).some(block => isObject(block) && block.type === 'tool_result')
  const choice = isObject(body.tool_choice) ? body.tool_choice : {}
  const tool = arrayOrEmpty(body.tools)[0]
  if (!isObject(tool) || isAnswered || choice.type === 'none')
    return [...thought, { type: 'text', text: textFor(body) }]
  // If the tool's schema asks for `OBJECT`, the model calls the tool with `OBJECT`, otherwise with a question about the weather.
  const properties = (tool.input_schema as { properties?: JsonObject }).properties ?? {}
  const input = Object.hasOwn(properties, 'degrees') ? OBJECT : TOOL_INPUT
  return [...thought, { type: 'tool_use', id: 'toolu_1', name: tool.name as string, input }]
}

function textFor(body: JsonObject): string {
  // A request without a tool to carry the schema may have it in the system prompt.
  return JSON.stringify(body.system ?? '').includes('degrees') ? JSON.stringify(OBJECT) : ANSWER
}

const USAGE = {
  input_tokens: USED.input - USED.cached,
  cache_read_input_tokens: USED.cached,
  cache_creation_input_tokens: 0,
  output_tokens: USED.output,
}

function stopOf(blocks: readonly JsonObject[]): string {
  return blocks.some(block => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
}

const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: `${MODEL}-20260917`, stop_sequence: null }

function wholeOf(blocks: readonly JsonObject[]): JsonObject {
  return { ...HEAD, content: [...blocks], stop_reason: stopOf(blocks), usage: USAGE }
}

function eventsOf(blocks: readonly JsonObject[]): string[] {
  const event = (type: string, more: JsonObject) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const usage = { ...USAGE, output_tokens: 1 }
  const started = { ...HEAD, content: [], stop_reason: null, usage }
  return [
    event('message_start', { message: started }),
    ...blocks.flatMap((block, index) => [
      event('content_block_start', { index, content_block: emptied(block) }),
      ...deltasOf(block).map(delta => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', { delta: { stop_reason: stopOf(blocks), stop_sequence: null }, usage: USAGE }),
    event('message_stop', {}),
  ]
}

function emptied(block: JsonObject): JsonObject {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'tool_use':
      return { ...block, input: {} }
    default:
      return { type: 'text', text: '' }
  }
}

function deltasOf(block: JsonObject): JsonObject[] {
  switch (block.type) {
    case 'thinking':
      return [
        { type: 'thinking_delta', thinking: block.thinking as string },
        { type: 'signature_delta', signature: block.signature as string },
      ]
    case 'tool_use':
      return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
    default:
      return [...(block.text as string)].map(text => ({ type: 'text_delta', text }))
  }
}
