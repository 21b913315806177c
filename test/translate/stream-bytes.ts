/** Writes random streams of the three formats as bytes. */

import fc from 'fast-check'

export type ContentPart = readonly ['text' | 'reasoning' | 'arguments' | 'refusal' | 'ping' | 'odd', string]

const piece: fc.Arbitrary<ContentPart> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.tuple(
      fc.constantFrom('text', 'reasoning', 'arguments'),
      fc.string({ unit: 'binary', minLength: 0, maxLength: 8 }),
    ),
  },
  fc.tuple(
    fc.constantFrom('text'),
    fc.constantFrom('"usage":', '\\', '"', '"}\n\n', '\u2028', '\ud83d', 'Hà', '"content":"x"'),
  ),
  fc.tuple(fc.constantFrom('refusal', 'ping', 'odd'), fc.constantFrom('a', 'b')),
)
/** Parts of a reply. Several parts of the same kind follow each other, as in real streams. */
export const pieces = fc
  .array(fc.tuple(piece, fc.nat(6)), { maxLength: 12 })
  .map(groups =>
    groups.flatMap(([[kind, text], times]) =>
      Array.from({ length: times + 1 }, (_, index): ContentPart => [kind, text + index]),
    ),
  )
export const escapes = fc.constantFrom('none', 'all')

function json(value: object, escaped: string): string {
  const text = JSON.stringify(value)
  if (escaped === 'none') return text
  return text.replace(/[\u0080-\uffff]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function chatBytes(parts: readonly ContentPart[], escaped: string, padding: boolean): Buffer {
  const chunk = (delta: object, index: number, finish: string | null = null) =>
    `data: ${json({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream', choices: [{ index: 0, delta, finish_reason: finish }], usage: null, ...(padding && { obfuscation: 'x'.repeat(index % 5) }) }, escaped)}\n\n`
  const members = { text: 'content', reasoning: 'reasoning_content', refusal: 'refusal' } as const
  const events = parts.map(([kind, text], index) => {
    if (kind === 'ping') return ': ping\n\n'
    if (kind === 'odd') return chunk({ content: text, reasoning_content: text }, index)
    if (kind !== 'arguments') return chunk({ [members[kind]]: text }, index)
    return chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: text } }] }, index)
  })
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  return Buffer.from(
    `${chunk({ role: 'assistant', content: '' }, 0)}${events.join('')}${chunk({}, 1, 'stop')}data: ${JSON.stringify({ id: 'c1', model: 'upstream', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  )
}

export function messagesBytes(parts: readonly ContentPart[], escaped: string): Buffer {
  const event = (type: string, data: object) => `event: ${type}\ndata: ${json({ type, ...data }, escaped)}\n\n`
  const delta = (index: number, value: object) => event('content_block_delta', { index, delta: value })
  const blocks = {
    text: { type: 'text', text: '' },
    reasoning: { type: 'thinking', thinking: '', signature: '' },
    arguments: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
  }
  let body = ''
  let open = ''
  let index = -1
  for (const [kind, text] of parts) {
    if (kind === 'ping' || kind === 'refusal') {
      body += event('ping', {})
      continue
    }
    if (kind === 'odd') {
      if (index >= 0) body += delta(index, { type: 'citations_delta', citation: { text } })
      continue
    }
    if (kind !== open) {
      if (open !== '') body += event('content_block_stop', { index })
      index++
      body += event('content_block_start', { index, content_block: blocks[kind] })
      open = kind
    }
    if (kind === 'text') body += delta(index, { type: 'text_delta', text })
    else if (kind === 'reasoning') body += delta(index, { type: 'thinking_delta', thinking: text })
    else body += delta(index, { type: 'input_json_delta', partial_json: text })
  }
  if (open !== '') body += event('content_block_stop', { index })
  const message = { id: 'msg_1', model: 'upstream', content: [], usage: { input_tokens: 3, output_tokens: 1 } }
  return Buffer.from(
    event('message_start', { message }) +
      body +
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }) +
      event('message_stop', {}),
  )
}

/** A Responses stream. Each item has pieces of one kind; `odd` pieces become annotations or vendor-specific events. */
export function responsesBytes(parts: readonly ContentPart[], escaped: string, padding: boolean): Buffer {
  let number = 0
  let body = ''
  const event = (type: string, data: object) => {
    body += `event: ${type}\ndata: ${json({ type, sequence_number: number++, ...data }, escaped)}\n\n`
  }
  const items = {
    text: { type: 'message', content: [] },
    reasoning: { type: 'reasoning', summary: [] },
    arguments: { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '' },
    refusal: { type: 'message', content: [] },
  }
  const deltas = {
    refusal: 'response.refusal.delta',
    text: 'response.output_text.delta',
    reasoning: 'response.reasoning_summary_text.delta',
    arguments: 'response.function_call_arguments.delta',
  }
  event('response.created', { response: { id: 'resp_1', model: 'upstream', output: [] } })
  let open: keyof typeof items | null = null
  let index = -1
  let whole = ''
  const close = () => {
    if (open === 'text') {
      event('response.output_text.done', { output_index: index, item_id: `i${index}`, content_index: 0, text: whole })
    }
    if (open !== null)
      event('response.output_item.done', { output_index: index, item: { id: `i${index}`, ...items[open] } })
  }
  for (const [kind, text] of parts) {
    if (kind === 'ping') body += ': ping\n\n'
    else if (kind === 'odd' && open === 'text') {
      const annotation = { type: 'url_citation', url: 'https://example.com', title: text, start_index: 0, end_index: 1 }
      const at = { item_id: `i${index}`, output_index: index, content_index: 0, annotation_index: 0 }
      event('response.output_text.annotation.added', { ...at, annotation })
    } else if (kind === 'odd') event('keepalive', { text })
    else {
      if (kind !== open) {
        close()
        index++
        open = kind
        whole = ''
        event('response.output_item.added', { output_index: index, item: { id: `i${index}`, ...items[kind] } })
      }
      whole += text
      const place = {
        item_id: `i${index}`,
        output_index: index,
        [kind === 'text' || kind === 'refusal' ? 'content_index' : 'summary_index']: 0,
      }
      const more = { ...(kind === 'text' && { logprobs: [] }), ...(padding && { obfuscation: 'x'.repeat(number % 5) }) }
      event(deltas[kind], { ...place, delta: text, ...more })
    }
  }
  close()
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
  event('response.completed', { response: { id: 'resp_1', model: 'upstream', status: 'completed', output: [], usage } })
  return Buffer.from(body)
}
