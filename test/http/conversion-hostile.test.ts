/**
 * Sends odd and hostile provider streams through a running gateway, over real sockets and cut at arbitrary bytes. The streams,
 * and the reply that the client must get for each, are the fixtures of the translators' tests. The client must also be billed.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type ConversionWorld,
  CREDIT,
  chatText,
  eventsOf,
  messagesText,
  question,
  startConversionWorld,
  streamOf,
} from '../support/conversion.ts'
import { end, sse, until, write } from '../support/scripted-upstream.ts'
import { CHAT_STREAMS, call, delta as chunk, FINISH, fn, USAGE } from '../translate/fixtures/chat-streams.ts'
import {
  close,
  delta,
  MESSAGES_STREAMS,
  end as messageEnd,
  open,
  STOP,
  start,
} from '../translate/fixtures/messages-streams.ts'
import { readEvents, strictCompletion, strictMessage } from '../translate/grammar.ts'

let world: ConversionWorld

beforeAll(async () => {
  world = await startConversionWorld({ environment: { LIMIT_PING_AFTER_MS: '150', LIMIT_EVENT_BYTES_MAX: '3000000' } })
})
beforeEach(async () => {
  world.account = await world.running.account(CREDIT)
})
afterAll(() => world.close())

const asMessages = async () => (await world.call('/v1/messages', question('gpt-5.5', { stream: true }))).text()
const asChat = async () =>
  (
    await world.call(
      '/v1/chat/completions',
      question('claude-opus-5', { stream: true, stream_options: { include_usage: true } }),
    )
  ).text()

/**
 * The gateway generates an id for a tool call that has none. The fixtures expect a numbered id, but a running gateway's ids are
 * random, so any id of that form is accepted.
 */
function withIds(blocks: readonly object[]): object[] {
  return blocks.map(block =>
    'id' in block && /^toolu_\d$/.test(String(block.id))
      ? { ...block, id: expect.stringMatching(/^toolu_\w{8,}$/) }
      : block,
  )
}

test.each(CHAT_STREAMS)('a chat provider sends %s', async (_name, chunks, blocks, stopReason) => {
  world.answer(streamOf(chatText(...chunks), 7))
  const message = strictMessage(await asMessages())
  expect([message.content, message.stop_reason, message.model]).toEqual([withIds(blocks), stopReason, 'gpt-5.5'])
  expect((await world.row()).status).toBe(200)
})

test.each(MESSAGES_STREAMS)('a messages provider sends %s', async (_name, events, message, finishReason) => {
  world.answer(streamOf(messagesText(...events), 7))
  const completion = strictCompletion(await asChat())
  expect([completion.message, completion.finish_reason]).toEqual([message, finishReason])
  expect((await world.row()).status).toBe(200)
})

const VIETNAMESE = 'Đường xa, trời rộng 🌏\u2028 — “ngoặc”\u0085'
const CHAT = chatText(
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: VIETNAMESE }),
  FINISH,
  USAGE,
  '[DONE]',
)
const MESSAGES = messagesText(
  start(),
  open(0, { type: 'text', text: '' }),
  delta(0, { type: 'text_delta', text: VIETNAMESE }),
  close(0),
  messageEnd('end_turn'),
  STOP,
)

const TRANSPORTS: [string, (text: string) => string, number | undefined][] = [
  ['one byte at a time', text => text, 1],
  ['with CR LF, split between them', text => text.replaceAll('\n', '\r\n'), 1],
  ['with CR alone', text => text.replaceAll('\n', '\r'), 3],
  ['after a byte order mark', text => `\ufeff${text}`, 2],
  [
    'with comments, ids and retry lines',
    text => `: OPENROUTER PROCESSING\n\n${text.replaceAll('data: ', ': x\nid: 7\nretry: 5\ndata: ')}`,
    5,
  ],
  [
    'without the space after the colon',
    text => text.replaceAll('data: ', 'data:').replaceAll('event: ', 'event:'),
    undefined,
  ],
  ['without the last blank line', text => text.trimEnd(), undefined],
  ['with several data lines for an event', text => text.replaceAll(/"index": ?0,/g, '"index":0,\ndata: '), 4],
]

test.each(TRANSPORTS)('both formats arrive complete %s', async (_name, transport, cutEvery) => {
  world.answer(streamOf(transport(CHAT), cutEvery))
  expect(strictMessage(await asMessages()).content).toEqual([{ type: 'text', text: VIETNAMESE }])
  world.account = await world.running.account(CREDIT)
  world.answer(streamOf(transport(MESSAGES), cutEvery))
  expect(strictCompletion(await asChat())).toMatchObject({ message: { content: VIETNAMESE }, finish_reason: 'stop' })
  expect(await world.row()).toMatchObject({ status: 200, input: 10, output: 5 })
})

test('a messages relay without event lines is understood', async () => {
  world.answer(streamOf(MESSAGES.replaceAll(/^event: .*\n/gm, '')))
  expect(strictCompletion(await asChat())).toMatchObject({ message: { content: VIETNAMESE } })
})

test('an event of one megabyte passes, one above the limit breaks the stream', async () => {
  const megabyte = 'ờ'.repeat(400_000)
  world.answer(streamOf(chatText(chunk({ content: megabyte }), FINISH, USAGE, '[DONE]')))
  expect(strictMessage(await asMessages()).content).toEqual([{ type: 'text', text: megabyte }])
  world.account = await world.running.account(CREDIT)
  world.answer(streamOf(chatText(chunk({ content: 'a' }), chunk({ content: 'ờ'.repeat(1_200_000) }), FINISH, '[DONE]')))
  const text = await asMessages()
  expect(eventsOf(text).at(-1)).toMatchObject({ name: 'error' })
  expect(await world.row()).toMatchObject({ status: 502, charged: 0n })
})

test('a thousand tool deltas in disorder come out as valid calls in order', async () => {
  const indexes = Array.from({ length: 20 }, (_, index) => index)
  const json = (index: number) => JSON.stringify({ index, text: 'Việt Nam '.repeat(5) })
  const pieces = indexes.flatMap(index => [...json(index)].map((piece, at) => ({ index, piece, at })))
  // Interleaves the calls: the first pieces of all calls, then the second pieces of all, and so on.
  const shuffled = pieces.sort((left, right) => left.at - right.at)
  world.answer(
    streamOf(
      chatText(
        ...indexes.map(index => call({ index, id: `c${index}`, function: fn(`f${index}`, '') })),
        ...shuffled.map(({ index, piece }) => call({ index, function: { arguments: piece } })),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ),
    ),
  )
  expect(strictMessage(await asMessages()).content).toEqual(
    indexes.map(index => ({ type: 'tool_use', id: `c${index}`, name: `f${index}`, input: JSON.parse(json(index)) })),
  )
})

test('keys named __proto__ in tool arguments are data', async () => {
  const args = '{"__proto__":{"admin":true},"constructor":1}'
  world.answer(streamOf(chatText(call({ index: 0, id: 'c', function: fn('f', args) }), FINISH, '[DONE]')))
  expect(await asMessages()).toContain(JSON.stringify(args))
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test.each([
  ['/v1/messages', 'gpt-5.5', CHAT, 'event: ping\ndata: {"type":"ping"}\n\n'],
  ['/v1/chat/completions', 'claude-opus-5', MESSAGES, ': ping\n\n'],
] as const)(
  '%s: while the provider of %s is silent in mid-stream, the client gets pings',
  async (path, model, text, ping) => {
    const gate = Promise.withResolvers<void>()
    const middle = text.indexOf('\n\n', text.indexOf('Đường')) + 2
    world.answer([sse(), write(text.slice(0, middle)), until(gate.promise), write(text.slice(middle)), end()])
    const response = await world.call(path, question(model, { stream: true }))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let seen = ''
    while (!seen.includes(ping)) seen += Buffer.from((await reader.read()).value ?? []).toString()
    gate.resolve()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      seen += Buffer.from(part.value).toString()
    expect(readEvents(seen.replaceAll(ping, '')).length).toBeGreaterThanOrEqual(3)
    expect(seen).toContain(path === '/v1/messages' ? 'message_stop' : '[DONE]')
  },
)

test('a provider that sends faster than the client reads is slowed down, and nothing is lost', async () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `từ ${index} ${'x'.repeat(100)} `)
  world.answer(streamOf(chatText(...words.map(content => chunk({ content })), FINISH, USAGE, '[DONE]')))
  const response = await world.call('/v1/messages', question('gpt-5.5', { stream: true }))
  await new Promise(resolve => setTimeout(resolve, 300))
  expect(strictMessage(await response.text()).content).toEqual([{ type: 'text', text: words.join('') }])
})
