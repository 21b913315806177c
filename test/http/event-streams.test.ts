/** Provider event streams in every notation that the WHATWG specification allows. Clients get the same events from each. */

import { describe, expect, test } from 'vitest'
import { question, streamOf, useConversionWorld } from '../support/conversion.ts'
import { readChatStream, readMessagesStream } from '../translate/sdk.ts'

const world = useConversionWorld()

const USAGE = { prompt_tokens: 22, completion_tokens: 5, total_tokens: 27 }
const CHUNK = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream-name' }
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...CHUNK,
  choices: [{ index: 0, delta, finish_reason }],
})
const CHAT = [
  chunk({ role: 'assistant', content: 'Hà' }),
  chunk({ content: ' "Nội" \\ \u2028' }),
  chunk({ content: ' 🌿' }),
  chunk({}, 'stop'),
  { ...CHUNK, choices: [], usage: USAGE },
].map(data => ({ name: '', data: JSON.stringify(data, null, 1) }))
const CHAT_EVENTS = [...CHAT, { name: '', data: '[DONE]' }]

const MESSAGES_EVENTS = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'upstream-name',
      content: [],
      usage: { input_tokens: 22, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...['Hà', ' "Nội" \\ \u2028', ' 🌿'].map(text => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
].map(data => ({ name: data.type, data: JSON.stringify(data, null, 1) }))

const TEXT = 'Hà "Nội" \\ \u2028 🌿'

interface Event {
  readonly name: string
  /** JSON text that spans several lines. */
  readonly data: string
}

const oneLine = ({ data }: Event): string => (data === '[DONE]' ? data : JSON.stringify(JSON.parse(data)))
const named = ({ name }: Event, end = '\n'): string => (name === '' ? '' : `event: ${name}${end}`)
const plain = (event: Event): string => `${named(event)}data: ${oneLine(event)}\n\n`

/** Functions that write the same events in different notations. */
const NOTATIONS: Readonly<Record<string, (events: readonly Event[]) => string>> = {
  LF: events => events.map(plain).join(''),
  CRLF: events => events.map(plain).join('').replaceAll('\n', '\r\n'),
  CR: events => events.map(plain).join('').replaceAll('\n', '\r'),
  'no space after the colon': events => events.map(plain).join('').replaceAll(': ', ':'),
  'a byte order mark': events => `\ufeff${events.map(plain).join('')}`,
  'data on several lines': events =>
    events
      .map(
        event =>
          `${named(event)}${event.data
            .split('\n')
            .map(line => `data: ${line}\n`)
            .join('')}\n`,
      )
      .join(''),
  'data on several lines, CRLF': events =>
    events
      .map(
        event =>
          `${named(event, '\r\n')}${event.data
            .split('\n')
            .map(line => `data:${line}\r\n`)
            .join('')}\r\n`,
      )
      .join(''),
  'the data line before the name': events => events.map(event => `data: ${oneLine(event)}\n${named(event)}\n`).join(''),
  'comments, ids, waits and unknown fields': events =>
    events
      .map((event, index) => `: PROCESSING\n\nid: ${index}\nretry: 10\nfoo: bar\nbaz\n${plain(event)}retry: 5\n\n`)
      .join(''),
  'events with empty data': events =>
    `data:\n\n${events.map(event => `data\n\nevent: ping\n\nevent: ping\ndata:\n\n${plain(event)}`).join('')}`,
  'no last blank line': events => events.map(plain).join('').slice(0, -1),
  'no last line end': events => events.map(plain).join('').slice(0, -2),
  'no last line end, CRLF': events => events.map(plain).join('').replaceAll('\n', '\r\n').slice(0, -4),
}

const CUTS = [undefined, 1] as const
const CASES = Object.entries(NOTATIONS).flatMap(([way, write]) =>
  CUTS.map(cut => [way, cut ?? 'no', write, cut] as const),
)

describe.each([
  ['chat to chat', 'gpt-5.5', '/v1/chat/completions', CHAT_EVENTS],
  ['chat to messages', 'gpt-5.5', '/v1/messages', CHAT_EVENTS],
  ['messages to messages', 'claude-opus-5', '/v1/messages', MESSAGES_EVENTS],
  ['messages to chat', 'claude-opus-5', '/v1/chat/completions', MESSAGES_EVENTS],
] as const)('%s', (_name, model, path, events) => {
  test.each(CASES)('%s, split every %s bytes', async (_way, _cut, write, cut) => {
    world.answer(streamOf(write(events), cut))
    const response = await world.call(path, question(model, { stream: true, stream_options: { include_usage: true } }))
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).not.toContain('upstream-name')
    if (path === '/v1/messages') {
      expect(await readMessagesStream(text)).toMatchObject({
        model,
        content: [{ type: 'text', text: TEXT }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 22, output_tokens: 5 },
      })
    } else {
      expect(await readChatStream(text)).toMatchObject({
        model,
        choices: [{ message: { content: TEXT }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 22, completion_tokens: 5 },
      })
    }
    expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 5, estimated: false })
  })

  test('an event truncated by the end of the stream is not relayed', async () => {
    const whole = events.map(plain).join('')
    world.answer(streamOf(whole.slice(0, whole.indexOf('Nội') + 2)))
    const text = await (await world.call(path, question(model, { stream: true }))).text()
    expect(text).not.toContain('"N')
    const last = text.trimEnd().split('\n\n').at(-1) as string
    expect(JSON.parse(last.slice(last.indexOf('data: ') + 6))).toMatchObject({ error: { type: 'api_error' } })
    expect(await world.row()).toMatchObject({ status: 502, cost: 0n })
  })
})

test.each(CASES)('a responses stream with %s, split every %s bytes', async (_way, _cut, write, cut) => {
  const response = { id: 'resp_1', object: 'response', created_at: 5, model: 'upstream-name', output: [] }
  const usage = { input_tokens: 22, output_tokens: 5, total_tokens: 27 }
  const events = [
    { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
    { type: 'response.output_text.delta', sequence_number: 1, item_id: 'm', delta: TEXT },
    { type: 'response.completed', sequence_number: 2, response: { ...response, status: 'completed', usage } },
  ]
  world.answer(streamOf(write(events.map(data => ({ name: data.type, data: JSON.stringify(data, null, 1) }))), cut))
  const answer = await fetch(`${world.running.url}/v1/responses`, {
    method: 'POST',
    headers: { 'x-api-key': world.account.apiKey },
    body: JSON.stringify({ model: 'gpt-5.5', input: 'x', stream: true }),
  })
  const told = (await answer.text()).replaceAll('\ufeff', '').split(/\r\n|\n|\r/)
  const data = told.filter(line => line.startsWith('data:')).map(line => JSON.parse(line.slice(5)))
  const model = 'gpt-5.5'
  expect(data).toEqual(JSON.parse(JSON.stringify(events).replaceAll('upstream-name', model)))
  expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 5, estimated: false })
})

test('an event without its blank line gets one, before the end of the stream', async () => {
  world.answer(streamOf(CHAT.map(plain).join('').slice(0, -2)))
  const text = await (await world.call('/v1/chat/completions', question('gpt-5.5', { stream: true }))).text()
  expect(text).toMatch(/\}\n\ndata: \[DONE\]\n\n$/)
})
