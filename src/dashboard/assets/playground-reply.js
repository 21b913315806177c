/** Reads replies: server-sent events of each format, pictures and errors. Independent of the page. */

/**
 * The data of each event of a stream, parsed.
 *
 * @param {ReadableStream<Uint8Array>} body
 */
export async function* eventsOf(body) {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    rest += done ? '\n\n' : decoder.decode(value, { stream: true })
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop()
    for (const block of blocks) {
      const lines = block.split(/\r?\n/).filter(line => line.startsWith('data:'))
      const data = lines.map(line => line.slice(5).trimStart()).join('\n')
      if (data !== '' && data !== '[DONE]') yield JSON.parse(data)
    }
    if (done) return
  }
}

/**
 * What an event of each format adds: `text`; `reasoning`; the `input` and `output` tokens so far; `ended`, with `cut` if the
 * output cap cut the reply short; and `error`, a message.
 */
export const READERS = {
  chat_completions(event) {
    if (event.error) return { error: event.error.message, code: event.error.code }
    const [choice] = event.choices ?? []
    const { content, refusal, reasoning_content } = choice?.delta ?? {}
    return {
      text: (content ?? '') + (refusal ?? ''),
      reasoning: reasoning_content ?? '',
      ...(event.usage && { input: event.usage.prompt_tokens, output: event.usage.completion_tokens }),
      ...(choice?.finish_reason && { ended: true, cut: choice.finish_reason === 'length' }),
    }
  },
  messages(event) {
    const { type, delta = {} } = event
    if (type === 'error') return { error: event.error?.message, code: event.error?.code }
    if (type === 'message_start') return { input: inputOf(event.message.usage) }
    if (type === 'content_block_delta') return { text: delta.text ?? '', reasoning: delta.thinking ?? '' }
    if (type === 'message_delta') {
      const { input_tokens, output_tokens } = event.usage ?? {}
      return {
        ...(input_tokens !== undefined && { input: inputOf(event.usage) }),
        ...(output_tokens !== undefined && { output: output_tokens }),
        ...(delta.stop_reason && { ended: true, cut: delta.stop_reason === 'max_tokens' }),
      }
    }
    return {}
  },
  responses(event) {
    const { type, delta, response } = event
    if (type === 'error') return { error: event.message ?? event.error?.message, code: event.code ?? event.error?.code }
    if (type === 'response.failed') return { error: response?.error?.message, code: response?.error?.code }
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') return { text: delta }
    if (type === 'response.reasoning_summary_text.delta' || type === 'response.reasoning_text.delta') {
      return { reasoning: delta }
    }
    if (type === 'response.completed' || type === 'response.incomplete') {
      const { input_tokens: input, output_tokens: output } = response.usage ?? {}
      return { ended: true, cut: type === 'response.incomplete', ...(response.usage && { input, output }) }
    }
    return {}
  },
}

function inputOf({ input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 }) {
  return input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0)
}

const BEGINNINGS = { iVBOR: 'png', '/9j/': 'jpeg', UklGR: 'webp', R0lGO: 'gif' }

/**
 * The pictures of a reply as data URLs. A picture hosted elsewhere is not fetched, because its host would learn who looks at it.
 */
export function picturesOf({ data = [] }) {
  return data.flatMap(({ b64_json: text = '', url = '' }) => {
    if (/^data:image\/(png|jpeg|webp|gif);base64,/.test(url)) return [url]
    const type = Object.entries(BEGINNINGS).find(([beginning]) => text.startsWith(beginning))?.[1]
    return type === undefined ? [] : [`data:image/${type};base64,${text}`]
  })
}
