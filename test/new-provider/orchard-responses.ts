/**
 * The responses endpoint of the invented provider in `orchard.ts`, with the provider's quirks: checks requests and makes
 * replies.
 */

import { arrayOrEmpty, isObject, type JsonObject } from '../../src/lib/json.ts'
import { ANSWER, OBJECT, onlyKeys, refuseUnless, TOOL_INPUT } from './double.ts'

const FIELDS = [
  'model', 'input', 'instructions', 'max_output_tokens', 'temperature', 'top_p', 'stream', 'tools', 'tool_choice', 'text',
  'thinking_level',
] // biome-ignore format: a plain list

export function checkResponsesBody(body: JsonObject, outputTokensMax: number): void {
  onlyKeys(body, FIELDS, '')
  const { max_output_tokens: cap, thinking_level: level, text } = body
  if (cap !== undefined) {
    refuseUnless(typeof cap === 'number' && cap >= 16 && cap <= outputTokensMax, `max_output_tokens: ${String(cap)}`)
  }
  refuseUnless(level === undefined || level === 'brief' || level === 'deep', 'thinking_level: brief or deep')
  refuseUnless(level === undefined || body.temperature === undefined, 'temperature: not while thinking')
  for (const [index, tool] of arrayOrEmpty(body.tools).entries())
    onlyKeys(tool, ['type', 'name', 'description', 'parameters'], `tools[${index}]`)
  if (text !== undefined) {
    const { format } = onlyKeys(text, ['format'], 'text')
    onlyKeys(format, ['type', 'name', 'schema'], 'text.format')
  }
}

export function responseTo(body: JsonObject, head: { id: string; created: number; model: string }, meter: JsonObject) {
  const last = arrayOrEmpty(body.input).at(-1)
  const isAnswered = isObject(last) && last.type === 'function_call_output'
  const tool = arrayOrEmpty(body.tools)[0]
  const wantsObject = isObject(body.text)
  const text = wantsObject ? JSON.stringify(OBJECT) : ANSWER
  const item: JsonObject =
    isObject(tool) && !isAnswered
      ? {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: tool.name as string,
          arguments: JSON.stringify(TOOL_INPUT),
          status: 'completed',
        }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        }
  const response: JsonObject = {
    id: `resp_${head.id}`,
    object: 'response',
    created_at: head.created,
    model: head.model,
    status: 'completed',
    output: [item],
    meter,
  }
  return body.stream === true ? eventsOf(response, item) : response
}

function eventsOf(response: JsonObject, item: JsonObject): string[] {
  const { meter, ...begun } = response
  const open = { ...begun, status: 'in_progress', output: [] }
  const place = { item_id: item.id as string, output_index: 0 }
  const isCall = item.type === 'function_call'
  const part = { type: 'output_text', text: '', annotations: [] }
  const text = isCall ? '' : ((item.content as JsonObject[])[0]?.text as string)
  const events: JsonObject[] = [
    { type: 'response.created', response: open },
    { type: 'response.in_progress', response: open },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', ...(isCall ? { arguments: '' } : { content: [] }) },
    },
    ...(isCall
      ? [
          { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments as string },
          { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments as string },
        ]
      : [
          { type: 'response.content_part.added', ...place, content_index: 0, part },
          ...[...text].map(delta => ({ type: 'response.output_text.delta', ...place, content_index: 0, delta })),
          { type: 'response.output_text.done', ...place, content_index: 0, text },
          { type: 'response.content_part.done', ...place, content_index: 0, part: { ...part, text } },
        ]),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...begun, meter: meter as JsonObject } },
  ]
  return events.map(
    (event, sequence_number) =>
      `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  )
}
