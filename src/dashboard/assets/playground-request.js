/** Builds the request for what a person has chosen and typed, in each of the API's formats. Independent of the page. */

export const PATHS = {
  chat_completions: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  images_generations: '/v1/images/generations',
  images_edits: '/v1/images/edits',
  audio_speech: '/v1/audio/speech',
}

/** Parameters that a format has no field for. */
export const FOREIGN = { responses: ['stop', 'top_k'] }

/** The Messages format requires an output cap; this one is sent if the person sets none. */
const MESSAGES_TOKENS = 1024
/** Speech requires a voice. */
const VOICE = 'alloy'

/**
 * @param {object} asked
 * @param {'chat' | 'image' | 'speech'} asked.kind
 * @param {'chat_completions' | 'messages' | 'responses'} asked.format only for chat
 * @param {string} asked.model
 * @param {string} asked.system '' for none
 * @param {readonly { role: 'user' | 'assistant', text: string, pictures: readonly string[] }[]} asked.turns oldest first;
 *   pictures are data URLs
 * @param {Readonly<Record<string, unknown>>} asked.parameters by their names in `supported_parameters`
 * @returns {{ endpoint: keyof typeof PATHS, body: Record<string, unknown> }}
 */
export function requestOf(asked) {
  const { kind, model, turns, parameters } = asked
  const last = turns.at(-1) ?? { text: '', pictures: [] }
  if (kind === 'speech')
    return { endpoint: 'audio_speech', body: { model, input: last.text, voice: VOICE, ...parameters } }
  if (kind === 'image') {
    const body = { model, prompt: last.text, ...parameters }
    const [image] = last.pictures
    return image === undefined
      ? { endpoint: 'images_generations', body }
      : { endpoint: 'images_edits', body: { ...body, image } }
  }
  const write = { chat_completions: chatBody, messages: messagesBody, responses: responsesBody }[asked.format]
  return { endpoint: asked.format, body: write(asked) }
}

function chatBody({ model, system, turns, parameters }) {
  const content = ({ text, pictures }) =>
    pictures.length === 0
      ? text
      : [...pictures.map(url => ({ type: 'image_url', image_url: { url } })), { type: 'text', text }]
  return {
    model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(turn => ({ role: turn.role, content: content(turn) })),
    ],
    ...parameters,
    stream: true,
    stream_options: { include_usage: true },
  }
}

function messagesBody({ model, system, turns, parameters }) {
  const { max_tokens = MESSAGES_TOKENS, stop, reasoning_effort, ...others } = parameters
  const content = ({ text, pictures }) =>
    pictures.length === 0 ? text : [...pictures.map(pictureBlock), { type: 'text', text }]
  return {
    model,
    max_tokens,
    ...(system !== '' && { system }),
    messages: turns.map(turn => ({ role: turn.role, content: content(turn) })),
    ...others,
    ...(stop !== undefined && { stop_sequences: stop }),
    ...(reasoning_effort !== undefined && { output_config: { effort: reasoning_effort } }),
    stream: true,
  }
}

function pictureBlock(url) {
  const [, media_type = '', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return { type: 'image', source: { type: 'base64', media_type, data } }
}

function responsesBody({ model, system, turns, parameters }) {
  const { max_tokens, reasoning_effort, temperature, top_p } = parameters
  const content = ({ role, text, pictures }) =>
    role === 'assistant'
      ? [{ type: 'output_text', text }]
      : [...pictures.map(image_url => ({ type: 'input_image', image_url })), { type: 'input_text', text }]
  return {
    model,
    ...(system !== '' && { instructions: system }),
    input: turns.map(turn => ({ role: turn.role, content: content(turn) })),
    ...(max_tokens !== undefined && { max_output_tokens: max_tokens }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(reasoning_effort !== undefined && { reasoning: { effort: reasoning_effort, summary: 'auto' } }),
    store: false,
    stream: true,
  }
}
