/** Generates streams like those of providers, for benchmarks: text, reasoning or tool call arguments, one token per event. */

export type StreamShape = 'text' | 'reasoning' | 'tool'

const WORDS = [
  'Hà',
  ' Nội',
  ' là',
  ' thủ',
  ' đô',
  ' của',
  ' Việt',
  ' Nam',
  ',',
  ' and',
  ' it',
  ' is',
  ' "old"',
  '.',
  '\n',
]
const RESPONSES_USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 400,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 420,
}
const USAGE = { prompt_tokens: 20, completion_tokens: 400, total_tokens: 420 }

function word(index: number): string {
  return WORDS[index % WORDS.length] as string
}

/** A chat completions stream. Each chunk has all the members that a large provider sends. */
export function chatStreamText(shape: StreamShape, deltas: number): string {
  const head = {
    id: 'chatcmpl-BXk3vT8mY2nQpR7sWdUe1fGhJ',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'upstream-model-2026-04-23',
    service_tier: 'default',
    system_fingerprint: 'fp_3f58d112f7',
  }
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null, obfuscation: 'x7Gt2' })}\n\n`
  const delta = (index: number) => {
    if (shape === 'text') return { content: word(index) }
    if (shape === 'reasoning') return { reasoning_content: word(index) }
    return { tool_calls: [{ index: 0, function: { arguments: argument(index, deltas) } }] }
  }
  const call = { index: 0, id: 'call_abc', type: 'function', function: { name: 'write_file', arguments: '' } }
  return [
    chunk({ role: 'assistant', content: shape === 'tool' ? null : '', refusal: null }),
    ...(shape === 'tool' ? [chunk({ tool_calls: [call] })] : []),
    ...Array.from({ length: deltas }, (_, index) => chunk(delta(index))),
    ...(shape === 'reasoning' ? [chunk({ content: 'Done.' })] : []),
    chunk({}, shape === 'tool' ? 'tool_calls' : 'stop'),
    `data: ${JSON.stringify({ ...head, choices: [], usage: USAGE })}\n\n`,
    'data: [DONE]\n\n',
  ].join('')
}

export function messagesStreamText(shape: StreamShape, deltas: number): string {
  const event = (data: { readonly type: string; readonly [key: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const block = {
    text: { type: 'text', text: '' },
    reasoning: { type: 'thinking', thinking: '', signature: '' },
    tool: { type: 'tool_use', id: 'toolu_abc', name: 'write_file', input: {} },
  }[shape]
  const delta = (index: number) => {
    if (shape === 'text') return { type: 'text_delta', text: word(index) }
    if (shape === 'reasoning') return { type: 'thinking_delta', thinking: word(index) }
    return { type: 'input_json_delta', partial_json: argument(index, deltas) }
  }
  const usage = { input_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  const message = { id: 'msg_01abc', type: 'message', role: 'assistant', model: 'upstream-model', content: [], usage }
  return [
    event({ type: 'message_start', message }),
    event({ type: 'content_block_start', index: 0, content_block: block }),
    event({ type: 'ping' }),
    ...Array.from({ length: deltas }, (_, index) =>
      event({ type: 'content_block_delta', index: 0, delta: delta(index) }),
    ),
    event({ type: 'content_block_stop', index: 0 }),
    event({
      type: 'message_delta',
      delta: { stop_reason: shape === 'tool' ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 400 },
    }),
    event({ type: 'message_stop' }),
  ].join('')
}

/** What differs between Responses streams, keyed by the shape of their only item. */
const RESPONSES_SHAPES = {
  text: {
    events: 'output_text',
    member: 'text',
    at: { content_index: 0 },
    rest: { logprobs: [] },
    parts: 'content_part',
    part: (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text }),
    item: (content: readonly object[]) => ({ type: 'message', role: 'assistant', content }),
  },
  reasoning: {
    events: 'reasoning_summary_text',
    member: 'text',
    at: { summary_index: 0 },
    rest: {},
    parts: 'reasoning_summary_part',
    part: (text: string) => ({ type: 'summary_text', text }),
    item: (summary: readonly object[]) => ({ type: 'reasoning', summary }),
  },
  tool: {
    events: 'function_call_arguments',
    member: 'arguments',
    at: {},
    rest: {},
    parts: null,
    part: (text: string) => ({ text }),
    item: ([written]: readonly { readonly text?: string }[]) => {
      return { type: 'function_call', call_id: 'call_abc', name: 'write_file', arguments: written?.text ?? '' }
    },
  },
} as const

/** A Responses stream with one item. */
export function responsesStreamText(shape: StreamShape, deltas: number): string {
  const { events, member, at: place, rest, parts, part, item: itemOf } = RESPONSES_SHAPES[shape]
  let sequence = 0
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`
  const pieces = Array.from({ length: deltas }, (_, index) =>
    shape === 'tool' ? argument(index, deltas) : word(index),
  )
  const id = 'msg_0b2f6d1c9a'
  const item = (status: string, content: readonly { readonly text: string }[]) => ({ id, status, ...itemOf(content) })
  const response = (status: string, output: readonly object[], usage: object | null) => ({
    id: 'resp_0b2f6d1c9a',
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: 'upstream-model-2026-04-23',
    output,
    parallel_tool_calls: true,
    store: false,
    tool_choice: 'auto',
    tools: [],
    usage,
  })
  const at = { item_id: id, output_index: 0, ...place }
  const whole = pieces.join('')
  const done = item('completed', [part(whole)])
  return [
    event('response.created', { response: response('in_progress', [], null) }),
    event('response.in_progress', { response: response('in_progress', [], null) }),
    event('response.output_item.added', { output_index: 0, item: item('in_progress', []) }),
    ...(parts === null ? [] : [event(`response.${parts}.added`, { ...at, part: part('') })]),
    ...pieces.map(delta => event(`response.${events}.delta`, { ...at, delta, ...rest, obfuscation: 'x7Gt2mQ9' })),
    event(`response.${events}.done`, { ...at, [member]: whole, ...rest }),
    ...(parts === null ? [] : [event(`response.${parts}.done`, { ...at, part: part(whole) })]),
    event('response.output_item.done', { output_index: 0, item: done }),
    event('response.completed', { response: response('completed', [done], RESPONSES_USAGE) }),
  ].join('')
}

/** One delta of a tool call's JSON arguments, which are mostly one long string, as for a tool that writes a file. */
function argument(index: number, deltas: number): string {
  if (index === 0) return '{"path":"a.txt","content":"'
  return index === deltas - 1 ? '"}' : word(index % (WORDS.length - 1)).replaceAll('"', '\\"')
}
