/** Turns a request into code for curl, Python and TypeScript. Independent of the page. */

import { PATHS } from './playground-request.js'

export const LANGUAGES = { curl: curl, Python: python, TypeScript: typescript }

/** Replaces a picture in the code, because pictures are megabytes long. */
export const PICTURE = 'BASE64_OF_YOUR_PICTURE'

/**
 * @param {keyof typeof LANGUAGES} language
 * @param {{ endpoint: keyof typeof PATHS, body: Readonly<Record<string, unknown>> }} request
 * @param {string} url the address that clients use, without a trailing slash
 */
export function codeOf(language, { endpoint, body }, url) {
  return LANGUAGES[language]({ endpoint, body: withoutPictures(body), url })
}

function withoutPictures(value) {
  if (typeof value === 'string') return value.replace(/^(data:[^;,]+;base64,).{64,}$/s, `$1${PICTURE}`)
  if (Array.isArray(value)) return value.map(withoutPictures)
  if (typeof value !== 'object' || value === null) return value
  if (value.type === 'base64') return { ...value, data: PICTURE }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutPictures(inner)]))
}

function curl({ endpoint, body, url }) {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''")
  const output = endpoint === 'audio_speech' ? ` \\\n  --output speech.${body.response_format ?? 'mp3'}` : ''
  return `curl -N ${url}${PATHS[endpoint]} \\
  -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '${json}'${output}`
}

const PYTHON_CALLS = {
  chat_completions: ['stream', 'client.chat.completions.create'],
  messages: ['stream', 'client.messages.create'],
  responses: ['stream', 'client.responses.create'],
  images_generations: ['reply', 'client.images.generate'],
  audio_speech: ['reply', 'client.audio.speech.create'],
}

/** Fields that the SDKs' functions have no argument for. */
const EXTRA = { chat_completions: ['top_k'], messages: ['output_config'] }

const PYTHON_ENDS = {
  chat_completions: `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
  messages: `for event in stream:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="")`,
  responses: `for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="")`,
  images_generations: `for index, image in enumerate(reply.data):
    with open(f"image-{index}.png", "wb") as file:
        file.write(base64.b64decode(image.b64_json))`,
  images_edits: `for index, image in enumerate(reply["data"]):
    with open(f"image-{index}.png", "wb") as file:
        file.write(base64.b64decode(image["b64_json"]))`,
}

function python({ endpoint, body, url }) {
  const isMessages = endpoint === 'messages'
  const [packageName, client] = isMessages ? ['anthropic', 'Anthropic'] : ['openai', 'OpenAI']
  const base = isMessages ? url : `${url}/v1`
  const imports = endpoint.startsWith('images') ? 'import base64\n' : ''
  const head = `${imports}from ${packageName} import ${client}

client = ${client}(base_url=${JSON.stringify(base)}, api_key="$KEY")`
  if (endpoint === 'images_edits') {
    return `${head}
reply = client.post(
    "/images/edits",
    body=${literal(body, 1)},
    cast_to=object,
)
${PYTHON_ENDS.images_edits}`
  }
  const extra = Object.fromEntries(Object.entries(body).filter(([name]) => EXTRA[endpoint]?.includes(name)))
  const given = Object.entries({
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !(name in extra))),
    ...(Object.keys(extra).length > 0 && { extra_body: extra }),
  })
  const [result, call] = PYTHON_CALLS[endpoint]
  const end =
    PYTHON_ENDS[endpoint] ?? `${result}.write_to_file(${JSON.stringify(`speech.${body.response_format ?? 'mp3'}`)})`
  return `${head}
${result} = ${call}(
${given.map(([name, value]) => `    ${name}=${literal(value, 1)},`).join('\n')}
)
${end}`
}

/** A JSON value as Python writes it. */
function literal(value, depth) {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = '    '.repeat(depth + 1)
  const outer = '    '.repeat(depth)
  const [open, close, items] = Array.isArray(value)
    ? ['[', ']', value.map(item => literal(item, depth + 1))]
    : ['{', '}', Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literal(item, depth + 1)}`)]
  return items.length === 0
    ? open + close
    : `${open}\n${items.map(item => `${inner}${item},\n`).join('')}${outer}${close}`
}

const TYPESCRIPT_CALLS = {
  chat_completions: ['stream', 'client.chat.completions.create('],
  messages: ['stream', 'client.messages.create('],
  responses: ['stream', 'client.responses.create('],
  images_generations: ['reply', 'client.images.generate('],
  images_edits: ['reply: any', "client.post('/images/edits', { body: "],
  audio_speech: ['reply', 'client.audio.speech.create('],
}

const SAVE_IMAGES = `for (const [index, image] of reply.data.entries()) {
  writeFileSync(\`image-\${index}.png\`, Buffer.from(image.b64_json, 'base64'))
}`

const TYPESCRIPT_ENDS = {
  chat_completions: `for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
}`,
  messages: `for await (const event of stream) {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') process.stdout.write(event.delta.text)
}`,
  responses: `for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
}`,
  images_generations: SAVE_IMAGES,
  images_edits: SAVE_IMAGES,
}

function typescript({ endpoint, body, url }) {
  const isMessages = endpoint === 'messages'
  const [packageName, client] = isMessages ? ['@anthropic-ai/sdk', 'Anthropic'] : ['openai', 'OpenAI']
  const [result, call] = TYPESCRIPT_CALLS[endpoint]
  const saves = endpoint.startsWith('images') || endpoint === 'audio_speech'
  const file = JSON.stringify(`speech.${body.response_format ?? 'mp3'}`)
  const end = TYPESCRIPT_ENDS[endpoint] ?? `writeFileSync(${file}, Buffer.from(await reply.arrayBuffer()))`
  return `${saves ? "import { writeFileSync } from 'node:fs'\n" : ''}import ${client} from '${packageName}'

const client = new ${client}({ baseURL: '${isMessages ? url : `${url}/v1`}', apiKey: '$KEY' })
const ${result} = await ${call}${JSON.stringify(body, null, 2)}${call.endsWith('(') ? ')' : ' })'}
${end}`
}
