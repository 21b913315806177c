import { createHash } from 'node:crypto'
import OpenAI, { APIError, toFile } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pictureInfo } from '../../src/sandbox/picture-info.ts'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PICTURES, startTestSandbox } from './support.ts'

let sandbox: Sandbox
let client: OpenAI
beforeAll(async () => {
  sandbox = await startTestSandbox()
  client = new OpenAI({ apiKey: 'any', baseURL: `${sandbox.url}/up/v1`, maxRetries: 0 })
})
afterAll(() => sandbox.close())

const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'days'],
  additionalProperties: false,
}
const WEATHER = {
  type: 'function' as const,
  function: { name: 'get_weather', description: 'The weather of a city.', parameters: PARAMETERS, strict: true },
}
const user = (content: string) => ({ role: 'user' as const, content })

test('creates a completion with accurate usage', async () => {
  const completion = await client.chat.completions.create({ model: 'thinker', messages: [user('Hello there.')] })
  const [choice] = completion.choices
  expect(choice).toMatchObject({ index: 0, finish_reason: 'stop', message: { role: 'assistant' } })
  expect(choice!.message.content).toBe('This is a simulated reply: no model was called. You wrote: “Hello there.”')
  expect(completion.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 18, total_tokens: 28 })
})

test('streams reasoning, text and a tool call, then answers from the result', async () => {
  const call = { model: 'thinker', reasoning_effort: 'low' as const, tools: [WEATHER] }
  const ask = user('The weather in Huế for 3 days, please?')
  const stream = client.chat.completions.stream({ ...call, messages: [ask], stream_options: { include_usage: true } })
  let reasoning = ''
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined
    reasoning += delta?.reasoning_content ?? ''
  }
  const completion = await stream.finalChatCompletion()
  const message = completion.choices[0]!.message
  expect(reasoning).toMatch(/^Người dùng cần/)
  expect(completion.choices[0]!.finish_reason).toBe('tool_calls')
  expect(completion.usage!.completion_tokens_details!.reasoning_tokens).toBeGreaterThan(20)
  const toolCall = message.tool_calls![0] as { id: string; function: { arguments: string } }
  expect(JSON.parse(toolCall.function.arguments)).toEqual({ city: 'Huế', days: 3 })
  const answer = await client.chat.completions.create({
    ...call,
    messages: [
      ask,
      { role: 'assistant', content: message.content, tool_calls: message.tool_calls! },
      { role: 'tool', tool_call_id: toolCall.id, content: 'mưa' },
    ],
  })
  expect(answer.choices[0]!.message.content).toContain('get_weather returned: mưa')
})

test('sends a usage chunk only on request, and the finish reason once', async () => {
  const run = async (more: object) => {
    const stream = await client.chat.completions.create({
      model: 'thinker',
      messages: [user('hi')],
      stream: true,
      ...more,
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  }
  const bare = await run({})
  expect(bare.every(chunk => chunk.choices.length === 1 && !('usage' in chunk))).toBe(true)
  expect(bare.filter(chunk => chunk.choices[0]!.finish_reason !== null)).toHaveLength(1)
  expect(bare[0]!.choices[0]!.delta).toMatchObject({ role: 'assistant', content: '' })
  const counted = await run({ stream_options: { include_usage: true } })
  expect(counted.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 8 } })
  expect(new Set(counted.map(chunk => chunk.id)).size).toBe(1)
})

test('cuts tool arguments short at the token limit', async () => {
  const completion = await client.chat.completions.create({
    model: 'thinker',
    max_completion_tokens: 12,
    messages: [user('weather')],
    tools: [WEATHER],
    tool_choice: 'required',
  })
  const [choice] = completion.choices
  expect([choice!.finish_reason, completion.usage!.completion_tokens]).toEqual(['length', 12])
  const call = choice!.message.tool_calls![0] as { function: { arguments: string } }
  expect(() => JSON.parse(call.function.arguments)).toThrow(SyntaxError)
})

test('answers according to a JSON schema, or with some object', async () => {
  const ask = [user('As json: Huế, 5 days')]
  const strict = await client.chat.completions.create({
    model: 'thinker',
    messages: ask,
    response_format: { type: 'json_schema', json_schema: { name: 'trip', schema: PARAMETERS, strict: true } },
  })
  expect(JSON.parse(strict.choices[0]!.message.content!)).toEqual({ city: 'Huế', days: 5 })
  const loose = await client.chat.completions.create({
    model: 'thinker',
    messages: ask,
    response_format: { type: 'json_object' },
  })
  expect(JSON.parse(loose.choices[0]!.message.content!)).toMatchObject({ simulated: true })
})

test('returns as many choices as requested', async () => {
  const completion = await client.chat.completions.create({ model: 'thinker', messages: [user('hi')], n: 3 })
  expect(completion.choices.map(choice => choice.index)).toEqual([0, 1, 2])
})

test.each([
  ['error=429', 429, 'rate_limit_exceeded'],
  ['error=insufficient_quota', 429, 'insufficient_quota'],
  ['error=401', 401, 'invalid_api_key'],
  ['error=500', 500, null],
])('sandbox:%s becomes an APIError', async (word, status, code) => {
  const error = await client.chat.completions
    .create({ model: 'thinker', messages: [user(`sandbox:${word}`)] })
    .catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ status, code })
})

test('responses: streams reasoning, text and a call, remembers them, and answers from the output', async () => {
  const tool = { type: 'function' as const, name: 'get_weather', parameters: PARAMETERS, strict: true }
  const call = { model: 'thinker', tools: [tool], reasoning: { effort: 'low', summary: 'auto' } as const }
  const stream = client.responses.stream({ ...call, input: 'The weather in Paris for 2 days? sandbox:tokens=12' })
  const types: string[] = []
  for await (const event of stream) if (types.at(-1) !== event.type) types.push(event.type)
  expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
  const response = await stream.finalResponse()
  expect(response.output.map(item => item.type)).toEqual(['reasoning', 'message', 'function_call'])
  expect(response.usage!.total_tokens).toBe(response.usage!.input_tokens + response.usage!.output_tokens)
  const made = response.output[2] as { call_id: string; arguments: string }
  expect(JSON.parse(made.arguments)).toEqual({ city: 'Paris', days: 2 })
  const output = { type: 'function_call_output' as const, call_id: made.call_id, output: 'sun' }
  const answer = await client.responses.create({ ...call, previous_response_id: response.id, input: [output] })
  expect(answer.output_text).toContain('get_weather returned: sun')
  await expect(
    client.responses.create({ ...call, previous_response_id: 'resp_none', input: 'x' }),
  ).rejects.toMatchObject({
    status: 400,
    code: 'previous_response_not_found',
  })
})

test('responses: the whole history may be sent instead', async () => {
  const tool = { type: 'function' as const, name: 'get_weather', parameters: PARAMETERS, strict: true }
  const ask = {
    role: 'user' as const,
    content: [{ type: 'input_text' as const, text: 'The weather in Paris for 2 days?' }],
  }
  const first = await client.responses.create({ model: 'thinker', tools: [tool], store: false, input: [ask] })
  const made = first.output.find(item => item.type === 'function_call') as { call_id: string }
  const output = { type: 'function_call_output' as const, call_id: made.call_id, output: 'sun' }
  const input = [ask, ...first.output, output] as OpenAI.Responses.ResponseInput
  const second = await client.responses.create({ model: 'thinker', tools: [tool], store: false, input })
  expect(second.output_text).toContain('get_weather returned: sun')
})

test('responses: too few tokens leave it incomplete', async () => {
  const response = await client.responses.create({
    model: 'thinker',
    input: 'sandbox:tokens=100',
    max_output_tokens: 16,
  })
  expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  expect(response.usage!.output_tokens).toBe(16)
})

test('images: draws the requested number in the requested size', async () => {
  const reply = await client.images.generate({ model: 'painter', prompt: 'A boat in Hội An', size: '1536x1024', n: 2 })
  const pictures = reply.data!.map(image => Buffer.from(image.b64_json!, 'base64'))
  expect(pictures.map(bytes => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)])).toEqual([
    [1536, 1024],
    [1536, 1024],
  ])
  expect(pictures[0]!.equals(pictures[1]!)).toBe(false)
  expect(reply.usage).toMatchObject({ input_tokens: 5, output_tokens: 3168, total_tokens: 3173 })
})

test.each(['png', 'jpeg', 'webp'] as const)('images: are %s on request', async output_format => {
  const call = { model: 'painter', prompt: 'A boat in Hội An', size: '512x256', output_format } as const
  const whole = await client.images.generate({ ...call, size: call.size as '1024x1024' })
  expect(whole.output_format).toBe(output_format)
  const bytes = Buffer.from(whole.data![0]!.b64_json!, 'base64')
  expect(pictureInfo(bytes)).toEqual({ mediaType: `image/${output_format}`, width: 512, height: 256 })
  const small = await client.images.generate({ ...call, size: '1024x1024', output_compression: 5 })
  const large = await client.images.generate({ ...call, size: '1024x1024', output_compression: 95 })
  const lengths = [small, large].map(reply => reply.data![0]!.b64_json!.length)
  expect(lengths[0] === lengths[1]).toBe(output_format === 'png')
})

test('images: edits take files, and stream partial images first', async () => {
  const image = await toFile(PICTURES['image/png']!, 'a.png', { type: 'image/png' })
  const whole = await client.images.edit({ model: 'painter', prompt: 'Bluer', image, mask: image, size: '1024x1024' })
  expect(whole.usage!.input_tokens_details.image_tokens).toBe(255)
  const stream = await client.images.edit({
    model: 'painter',
    prompt: 'Bluer',
    image: [image, image],
    stream: true,
    partial_images: 2,
  })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['image_edit.partial_image', 'image_edit.partial_image', 'image_edit.completed'])
})

test('images: generations stream too, and end with the usage', async () => {
  const stream = await client.images.generate({ model: 'painter', prompt: 'x', stream: true, partial_images: 1 })
  const events = []
  for await (const event of stream) events.push(event)
  expect(events.map(event => event.type)).toEqual(['image_generation.partial_image', 'image_generation.completed'])
  expect(events[1]).toMatchObject({ usage: { output_tokens: 1056 } })
})

test('speech: the audio is as long as the text, and faster on request', async () => {
  const speak = async (input: string, speed: number) => {
    const reply = await client.audio.speech.create({
      model: 'speaker',
      voice: 'nova',
      input,
      speed,
      response_format: 'wav',
    })
    expect(reply.headers.get('content-type')).toBe('audio/wav')
    return Buffer.from(await reply.arrayBuffer())
  }
  const [short, long, fast] = [await speak('abcde', 1), await speak('abcdefghij', 1), await speak('abcdefghij', 2)]
  expect(short.toString('latin1', 0, 4) + short.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ')
  expect([long.length - 44, fast.length - 44]).toEqual([(short.length - 44) * 2, short.length - 44])
  expect(long.readUInt32LE(40)).toBe(long.length - 44)
})

const speech = async (more: Partial<OpenAI.Audio.SpeechCreateParams> = {}) => {
  const reply = await client.audio.speech.create({
    model: 'speaker',
    voice: 'nova',
    input: 'Xin chào các bạn',
    ...more,
  })
  return { type: reply.headers.get('content-type'), bytes: Buffer.from(await reply.arrayBuffer()) }
}

test.each([
  ['flac', 'audio/flac', 'fLaC'],
  ['wav', 'audio/wav', 'RIFF'],
] as const)('speech: %s is really in that format', async (response_format, type, beginning) => {
  const audio = await speech({ response_format })
  expect([audio.type, audio.bytes.toString('latin1', 0, 4)]).toEqual([type, beginning])
})

test('speech: MP3 by default, in contiguous frames up to the end', async () => {
  const { type, bytes } = await speech()
  expect(type).toBe('audio/mpeg')
  expect((await speech({ response_format: 'mp3' })).bytes.equals(bytes)).toBe(true)
  // The audio is MPEG-2 Layer III at 64 kbit/s, sampled at 24 kHz: one frame of 192 bytes per 24 ms.
  const frames = bytes.length / 192
  for (let frame = 0; frame < frames; frame += 1) expect(bytes.readUInt16BE(frame * 192)).toBe(0xfff3)
  const { bytes: samples } = await speech({ response_format: 'pcm' })
  expect(Math.abs(frames * 0.024 - samples.length / 2 / 24_000)).toBeLessThan(0.1)
})

test('speech: FLAC has the same samples as WAV', async () => {
  const [{ bytes: samples }, { bytes: flac }] = [
    await speech({ response_format: 'pcm' }),
    await speech({ response_format: 'flac' }),
  ]
  const facts = flac.readBigUInt64BE(18)
  expect([facts >> 44n, facts & 0xf_ffff_ffffn]).toEqual([24_000n, BigInt(samples.length / 2)])
  expect(flac.subarray(26, 42).equals(createHash('md5').update(samples).digest())).toBe(true)
  const first = flac.subarray(42 + 7 + 1 + 1, 42 + 9 + 200)
  expect(first.equals(Buffer.from(samples.subarray(0, first.length)).swap16())).toBe(true)
})

test('speech: voices differ', async () => {
  const [nova, echo] = [
    await speech({ response_format: 'pcm' }),
    await speech({ response_format: 'pcm', voice: 'echo' }),
  ]
  expect(nova.bytes.length).toBe(echo.bytes.length)
  expect(nova.bytes.equals(echo.bytes)).toBe(false)
})

test.each(['opus', 'aac'] as const)('speech: %s is refused with a list of supported formats', async response_format => {
  const error = await speech({ response_format }).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ status: 400, param: 'response_format' })
  expect(String(error)).toContain(`The sandbox cannot write '${response_format}'. It writes mp3, flac, wav, pcm.`)
})

test('speech: streams events with usage', async () => {
  const reply = await client.audio.speech.create({
    model: 'speaker',
    voice: 'echo',
    input: 'Xin chào',
    response_format: 'wav',
    stream_format: 'sse',
  })
  const events = (await reply.text())
    .trim()
    .split('\n\n')
    .map(line => JSON.parse(line.slice('data: '.length)))
  expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { input_tokens: 3 } })
  const audio = Buffer.concat(events.slice(0, -1).map(event => Buffer.from(event.audio, 'base64')))
  expect(audio.readUInt32LE(40)).toBe(audio.length - 44)
})

test('lists models', async () => {
  const page = await client.models.list()
  expect(page.data.map(model => model.id)).toContain('painter')
})
