/** The most expensive request bodies: each has 20 MB of a single kind of JSON, or as much of it as the gateway accepts. */

const MIB = 1024 * 1024
/** A little below the largest body accepted, leaving room for the rest of the request. */
const LARGEST = 20 * MIB - 1024
/** How many values a body has: a little less than LIMIT_BODY_VALUES_MAX. */
const VALUES = 99_000

export type Endpoint = 'messages' | 'chat_completions' | 'responses' | 'count_tokens' | 'images_generations'

export const PATHS: Readonly<Record<Endpoint, string>> = {
  messages: '/v1/messages',
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  count_tokens: '/v1/messages/count_tokens',
  images_generations: '/v1/images/generations',
}

/** Generators of filler JSON, by name. For an empty string, `bodyOf` sends as many messages as the gateway allows instead. */
export const FILLINGS: Readonly<Record<string, () => string>> = {
  'empty objects': () => listOf('{}', LARGEST),
  'short strings': () => listOf('"a"', LARGEST),
  'nested arrays': () => listOf(`${'['.repeat(200)}${']'.repeat(200)}`, LARGEST),
  'one string': () => `"${'a'.repeat(LARGEST - 300)}"`,
  escapes: () => `"${'\\n'.repeat((LARGEST - 300) / 2)}"`,
  'objects, as many as allowed': () => listOf('{}', VALUES * 3),
  'strings, as many as allowed': () => listOf(`"${'a'.repeat(LARGEST / VALUES - 4)}"`, LARGEST),
  'nested arrays, as many as allowed': () => listOf(`${'['.repeat(400)}${']'.repeat(400)}`, VALUES * 2),
  'keys, as many as allowed': () => `{${Array.from({ length: VALUES }, (_, index) => `"k${index}":1`).join(',')}}`,
  'objects of different keys': () =>
    `[${Array.from({ length: VALUES / 2 }, (_, index) => `{"k${index}":1}`).join(',')}]`,
  'messages, as many as allowed': () => '',
}

export const REFUSED = ['empty objects', 'short strings', 'nested arrays'] as const

function listOf(item: string, bytes: number): string {
  return `[${Array(Math.floor((bytes - 300) / (item.length + 1)))
    .fill(item)
    .join(',')}]`
}

/** Builds a request body with the filler. A JSON string becomes the prompt; anything else goes into an unknown field. */
export function bodyOf(endpoint: Endpoint, model: string, filling: string): Buffer {
  const isText = filling.startsWith('"')
  const prompt = isText ? filling : '"x"'
  const more = isText || filling === '' ? '' : `,"more":${filling}`
  if (endpoint === 'images_generations') return Buffer.from(`{"model":"${model}","prompt":${prompt}${more}}`)
  if (endpoint === 'responses') {
    const input = filling === '' ? manyTurns('{"role":"user","content":"x"}') : prompt
    return Buffer.from(`{"model":"${model}","input":${input}${more}}`)
  }
  const messages = filling === '' ? manyTurns() : `[{"role":"user","content":${prompt}}]`
  return Buffer.from(`{"model":"${model}","max_tokens":9,"messages":${messages}${more}}`)
}

/** A list of as many messages as LIMIT_BODY_VALUES_MAX allows. Each counts as three values: itself and its two members. */
function manyTurns(one?: string): string {
  const turns = Math.floor(VALUES / 3) - 10
  const turn = (index: number) => one ?? `{"role":"${index % 2 ? 'assistant' : 'user'}","content":"turn ${index}"}`
  return `[${Array.from({ length: turns }, (_, index) => turn(index)).join(',')}]`
}
