import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { post, smallBody, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

const BODY = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], anthropic_version: 'bedrock-2023-05-31' }
const invoke = (body: object, suffix = '') => post(sandbox, `/up/model/thinker/invoke${suffix}`, body)

interface Frame {
  readonly headers: Record<string, string>
  readonly payload: Record<string, string>
}

/** Parses AWS event-stream frames according to their published layout, including checksums. */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let start = 0; start < bytes.length; ) {
    const length = bytes.readUInt32BE(start)
    const frame = bytes.subarray(start, start + length)
    expect(frame.readUInt32BE(8)).toBe(crc32(frame.subarray(0, 8)))
    expect(frame.readUInt32BE(length - 4)).toBe(crc32(frame.subarray(0, length - 4)))
    const headersEnd = 12 + frame.readUInt32BE(4)
    const headers: Record<string, string> = {}
    for (let at = 12; at < headersEnd; ) {
      const name = frame.toString('latin1', at + 1, at + 1 + frame[at]!)
      at += 1 + name.length
      expect(frame[at]).toBe(7)
      const size = frame.readUInt16BE(at + 1)
      headers[name] = frame.toString('utf8', at + 3, at + 3 + size)
      at += 3 + size
    }
    frames.push({ headers, payload: JSON.parse(frame.toString('utf8', headersEnd, length - 4)) })
    start += length
  }
  return frames
}

test('sends a non-streamed reply, with the model from the path', async () => {
  const response = await invoke(BODY)
  expect(await response.json()).toMatchObject({ type: 'message', model: 'thinker', stop_reason: 'end_turn' })
})

test('streams binary events, the last with the metrics of the call', async () => {
  const response = await invoke(BODY, '-with-response-stream')
  expect(response.headers.get('content-type')).toBe('application/vnd.amazon.eventstream')
  const frames = framesOf(Buffer.from(await response.arrayBuffer()))
  expect(new Set(frames.map(frame => `${frame.headers[':message-type']} ${frame.headers[':event-type']}`))).toEqual(
    new Set(['event chunk']),
  )
  const events = frames.map(frame => JSON.parse(Buffer.from(frame.payload.bytes!, 'base64').toString()))
  expect([events[0].type, events.at(-2).type, events.at(-1).type]).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ])
  expect(events.at(-1)['amazon-bedrock-invocationMetrics']).toMatchObject({ inputTokenCount: 8 })
})

test('breaks a stream with an exception event', async () => {
  const response = await invoke(
    { ...BODY, messages: [{ role: 'user', content: 'sandbox:error-event' }] },
    '-with-response-stream',
  )
  const frames = framesOf(Buffer.from(await response.arrayBuffer()))
  expect(frames.at(-1)!.headers).toMatchObject({
    ':message-type': 'exception',
    ':exception-type': 'modelStreamErrorException',
  })
})

test.each([
  [
    'the model in the body',
    { model: 'thinker' },
    'Malformed input request: #: extraneous key [model] is not permitted',
  ],
  ['stream in the body', { stream: true }, 'Malformed input request: #: extraneous key [stream] is not permitted'],
  ['no version', { anthropic_version: undefined }, '<vendor>_version: Field required'],
  ['betas as text', { anthropic_beta: 'a,b' }, 'anthropic_beta: Input should be a valid list'],
  ['what the messages format refuses', { max_tokens: undefined }, 'max_tokens: Field required'],
  [
    'eager input',
    { tools: [{ name: 'a', input_schema: { type: 'object' }, eager_input_streaming: true }] },
    'tools.0.custom.eager_input_streaming: Extra inputs are not permitted',
  ],
  [
    'an image by URL',
    {
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }] },
      ],
    },
    'messages: URL sources are not supported.',
  ],
] as [string, object, string][])('refuses %s', async (_name, more, message) => {
  const response = await invoke({ ...BODY, ...more })
  expect([response.status, response.headers.get('x-amzn-errortype'), await response.json()]).toEqual([
    400,
    'ValidationException:',
    { message },
  ])
})

test('words its other errors like the cloud', async () => {
  const busy = await invoke({ ...BODY, messages: [{ role: 'user', content: 'sandbox:error=429' }] })
  expect([busy.status, busy.headers.get('x-amzn-errortype')]).toEqual([429, 'ThrottlingException:'])
  const unknown = await post(sandbox, '/up/model/none%3A0/invoke', BODY)
  expect([unknown.status, await unknown.json()]).toEqual([
    400,
    { message: 'The provided model identifier is invalid.' },
  ])
  expect((await post(sandbox, '/up/model/%ff/invoke', smallBody('messages', 'x'))).status).toBe(400)
})
