/**
 * A provider that calls itself OpenAI-compatible, with ten quirks. It refuses everything unknown with 400:
 *
 * 1. the effort is `thinking_level`: `brief` or `deep`;
 * 2. there is no `n`;
 * 3. there is no `strict`, on tools and on schemas;
 * 4. the output is capped at 8,192 tokens, by `max_tokens`;
 * 5. there is no `temperature` and no `top_p` while the model thinks;
 * 6. every call needs the header `orchard-project`;
 * 7. usage is in `meter`, in replies and in the last chunk of every stream; there are no `stream_options`;
 * 8. errors are `{ok: false, fault: {why, kind}}`;
 * 9. thoughts are in the text, in `<think>…</think>`;
 * 10. one tool is called at a time, and there is no `parallel_tool_calls`.
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
import { checkResponsesBody, responseTo } from './orchard-responses.ts'

const MODEL = 'orchard-large-2'
const OUTPUT_TOKENS_MAX = 8192

export function startOrchard(): Promise<Double> {
  return startDouble({
    answer(call) {
      if (call.headers.authorization !== 'Bearer orchard-secret') throw new Refusal(401, 'unknown credential')
      refuseUnless(call.headers['orchard-project'] === 'main', 'the header orchard-project is missing')
      if (call.path === '/api/models') return { body: { object: 'list', data: [{ id: MODEL, object: 'model' }] } }
      if (call.path === '/api/responses') {
        refuseUnless(call.body.model === MODEL, `no such model: ${String(call.body.model)}`)
        checkResponsesBody(call.body, OUTPUT_TOKENS_MAX)
        return { body: responseTo(call.body, HEAD, METER) }
      }
      if (call.path !== '/api/chat/completions') throw new Refusal(404, `no such path: ${call.path}`)
      checkBody(call.body)
      const reply = replyTo(call.body)
      return { body: call.body.stream === true ? chunksOf(reply) : wholeOf(reply) }
    },
    errorBody: ({ status, message }) => ({ ok: false, fault: { why: message, kind: `E${status}` } }),
  })
}

const FIELDS = [
  'model', 'messages', 'max_tokens', 'temperature', 'top_p', 'stop', 'stream', 'tools', 'tool_choice', 'response_format',
  'thinking_level',
] // biome-ignore format: a plain list

function checkBody(body: JsonObject): void {
  onlyKeys(body, FIELDS, '')
  refuseUnless(body.model === MODEL, `no such model: ${String(body.model)}`)
  const { max_tokens: cap, thinking_level: level, response_format: form } = body
  if (cap !== undefined) {
    refuseUnless(typeof cap === 'number' && cap >= 1 && cap <= OUTPUT_TOKENS_MAX, 'max_tokens: at most 8192')
  }
  refuseUnless(level === undefined || level === 'brief' || level === 'deep', 'thinking_level: brief or deep')
  if (level !== undefined) {
    refuseUnless(body.temperature === undefined, 'temperature: not while thinking')
    refuseUnless(body.top_p === undefined, 'top_p: not while thinking')
  }
  for (const [index, tool] of arrayOrEmpty(body.tools).entries()) {
    const place = `tools[${index}]`
    const { type, function: made } = onlyKeys(tool, ['type', 'function'], place)
    refuseUnless(type === 'function', `${place}.type: function`)
    onlyKeys(made, ['name', 'description', 'parameters'], `${place}.function`)
  }
  if (form !== undefined) {
    const { type, json_schema: schema } = onlyKeys(form, ['type', 'json_schema'], 'response_format')
    refuseUnless(type === 'json_schema' || type === 'text', 'response_format.type: json_schema')
    if (type === 'json_schema') onlyKeys(schema, ['name', 'description', 'schema'], 'response_format.json_schema')
  }
  for (const [index, message] of arrayOrEmpty(body.messages).entries()) checkMessage(message, `messages[${index}]`)
}

function checkMessage(message: JsonValue, place: string): void {
  const {
    role,
    content,
    tool_calls: calls,
  } = onlyKeys(message, ['role', 'content', 'tool_calls', 'tool_call_id', 'name'], place)
  refuseUnless(['system', 'user', 'assistant', 'tool'].includes(String(role)), `${place}.role: ${String(role)}`)
  for (const part of arrayOrEmpty(content)) onlyKeys(part, ['type', 'text', 'image_url'], `${place}.content`)
  refuseUnless(arrayOrEmpty(calls).length <= 1, `${place}.tool_calls: one at a time`)
}

interface Reply {
  readonly text: string
  readonly call: { readonly id: string; readonly name: string; readonly input: string } | null
}

function replyTo(body: JsonObject): Reply {
  const thought = body.thinking_level === undefined ? '' : `<think>${THOUGHT}</think>\n`
  const last = arrayOrEmpty(body.messages).at(-1)
  const isAnswered = isObject(last) && last.role === 'tool'
  const tool = arrayOrEmpty(body.tools)[0]
  if (isObject(tool) && !isAnswered && body.tool_choice !== 'none') {
    const { name } = tool.function as { name: string }
    return { text: thought, call: { id: 'call_1', name, input: JSON.stringify(TOOL_INPUT) } }
  }
  const wantsObject = isObject(body.response_format) && body.response_format.type === 'json_schema'
  return { text: thought + (wantsObject ? JSON.stringify(OBJECT) : ANSWER), call: null }
}

/** Usage as this provider reports it: in an unusual place, under unusual names. */
const METER = {
  prompt: USED.input,
  prompt_from_cache: USED.cached,
  produced: { all: USED.output, thought: USED.thought },
}

const HEAD = { id: 'orc-1', created: 1_790_000_000, model: `${MODEL}-0917` }

function wholeOf({ text, call }: Reply): JsonObject {
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(call !== null && {
      tool_calls: [{ id: call.id, type: 'function', function: { name: call.name, arguments: call.input } }],
    }),
  }
  const choice = { index: 0, message, finish_reason: call === null ? 'stop' : 'tool_calls' }
  return { ...HEAD, object: 'chat.completion', choices: [choice], meter: METER }
}

function chunksOf({ text, call }: Reply): string[] {
  const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}) => {
    const choice = { index: 0, delta, finish_reason: finish }
    return `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [choice], ...more })}\n\n`
  }
  const texts = text === '' ? [] : [...text].map(character => chunk({ content: character }))
  const calls =
    call === null
      ? []
      : [
          chunk({
            tool_calls: [{ index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
          }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: call.input } }] }),
        ]
  const end = chunk({}, call === null ? 'stop' : 'tool_calls', { meter: METER })
  return [chunk({ role: 'assistant', content: '' }), ...texts, ...calls, end, 'data: [DONE]\n\n']
}
