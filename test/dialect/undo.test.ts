/**
 * Same-format calls whose request was adapted to the upstream's dialect: tool names, reasoning tags and code fences in the
 * reply are mapped back for the client, wherever the text is split into pieces.
 */

import { describe, expect, test } from 'vitest'
import { ToolNames } from '../../src/conversation/names.ts'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import type { UndoPlan } from '../../src/conversation/undo-text.ts'
import { ChatRelay } from '../../src/formats/chat/relay.ts'
import { undoneReply as undoneChat } from '../../src/formats/chat/undo.ts'
import { MessagesRelay } from '../../src/formats/messages/relay.ts'
import { undoneReply as undoneMessages } from '../../src/formats/messages/undo.ts'
import { decodeText, toBuffer } from '../../src/lib/byte-text.ts'
import { asciiJson, editJson } from '../../src/lib/json-text.ts'

const LONG = 'a_tool_whose_name_is_longer_than_the_upstream_takes'
const names = new ToolNames([LONG, 'ok'], { nameMax: 20, nameStart: 'any' })
const short = names.upstream(LONG)
const NOTHING: UndoPlan = { names: null, tag: null, unwrapsFence: false }
const THINK: UndoPlan = { ...NOTHING, tag: 'think' }
const FENCE: UndoPlan = { ...NOTHING, unwrapsFence: true }
const countTokens = (text: string) => text.length

const usage = { inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 }

function relayed(stream: ReplyStream, text: string, chunkBytes = 1_000_000): string {
  const parts: Buffer[] = []
  const feed = new StreamFeed(stream, events => parts.push(toBuffer(events)), {
    eventBytesMax: 1_000_000,
    replyValuesMax: 100_000,
  })
  const bytes = Buffer.from(text, 'utf8')
  for (let at = 0; at < bytes.length; at += chunkBytes) feed.push(bytes.subarray(at, at + chunkBytes))
  parts.push(toBuffer(stream.end()))
  return Buffer.concat(parts).toString('utf8')
}

function chatStream(undoPlan: UndoPlan | null): ReplyStream {
  const billed = () => ({ usage, estimated: false })
  const options = { clientModel: 'client', countTokens, choices: 1, wantsUsage: false, usageFacts: {}, billed }
  return new ChatRelay({ ...options, undoPlan })
}

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
const FINISH = `${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`

interface ChatDelta {
  readonly content?: string
  readonly reasoning_content?: string
}

function spoken(text: string): { text: string; reasoning: string; events: number } {
  const events = text.split('\n\n').filter(event => event.startsWith('data: {'))
  const deltas = events.map(event => JSON.parse(event.slice(6)).choices[0].delta as ChatDelta)
  return {
    text: deltas.map(delta => delta.content ?? '').join(''),
    reasoning: deltas.map(delta => delta.reasoning_content ?? '').join(''),
    events: events.length,
  }
}

/** Yields every way to split a text into three pieces. */
function* cuts(text: string): Generator<string[]> {
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      yield [text.slice(0, first), text.slice(first, second), text.slice(second)]
    }
  }
}

describe('a chat stream', () => {
  test('reasoning is taken out of the text, wherever it is split', () => {
    for (const pieces of cuts('<think>Nghĩ</think>\n\nHà <b>')) {
      const told = relayed(chatStream(THINK), pieces.map(content => chunk({ content })).join('') + FINISH)
      expect(spoken(told), JSON.stringify(pieces)).toMatchObject({ text: 'Hà <b>', reasoning: 'Nghĩ' })
    }
  })

  test('text without the tag stays, and later text is not examined', () => {
    const text =
      chunk({ role: 'assistant', content: 'Hà' }) +
      Array.from({ length: 50 }, () => chunk({ content: ' Nội' })).join('')
    for (const bytes of [1, 7, 1_000_000]) {
      expect(relayed(chatStream(THINK), text + FINISH, bytes)).toBe(relayed(chatStream(null), text + FINISH))
    }
  })

  test('JSON is taken out of its fence, wherever it is split', () => {
    for (const pieces of cuts('```json\n{"a":"ế"}\n```')) {
      const told = relayed(chatStream(FENCE), pieces.map(content => chunk({ content })).join('') + FINISH)
      expect(spoken(told).text, JSON.stringify(pieces)).toBe('{"a":"ế"}')
    }
  })

  test('held-back text is sent when the text ends: at a finish reason, a call, or the end of the stream', () => {
    expect(spoken(relayed(chatStream(THINK), chunk({ content: ' <thi' }) + FINISH)).text).toBe(' <thi')
    const call = chunk({ tool_calls: [{ index: 0, id: '1', function: { name: 'ok', arguments: '{}' } }] })
    const finish = chunk({}, { finish_reason: 'tool_calls' })
    expect(spoken(relayed(chatStream(THINK), chunk({ content: '<thi' }) + call + finish)).text).toBe('<thi')
    expect(
      spoken(
        relayed(chatStream(THINK), `${chunk({ content: '<think>ế' })}${chunk({ content: '</thi' })}data: [DONE]\n\n`),
      ),
    ).toMatchObject({ reasoning: 'ế</thi', text: '' })
  })

  test('tools get their names back, and nothing else changes', () => {
    const call = (name: string) =>
      chunk({ tool_calls: [{ index: 0, id: '1', type: 'function', function: { name, arguments: '' } }] }) +
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }) +
      chunk({ tool_calls: [{ index: 1, id: '2', function: { name: 'ok', arguments: '{}' } }] })
    const finish = chunk({}, { finish_reason: 'tool_calls' })
    expect(short).not.toBe(LONG)
    expect(relayed(chatStream({ ...NOTHING, names }), call(short) + finish)).toBe(
      relayed(chatStream(null), call(LONG) + finish),
    )
  })

  test('choices are kept apart', () => {
    const of = (index: number, content: string) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index, delta: { content } }] })}\n\n`
    const text = of(0, '<think>a') + of(1, 'plain') + of(0, '</think>b') + of(1, '<think>c')
    const told = relayed(chatStream(THINK), text + FINISH)
    const deltasOf = (index: number) =>
      told
        .split('\n\n')
        .filter(event => event.startsWith('data: {'))
        .flatMap(event => JSON.parse(event.slice(6)).choices)
        .filter(choice => choice.index === index)
        .map(({ delta }) => [delta.reasoning_content ?? '', delta.content ?? ''])
    expect(
      deltasOf(0)
        .map(([reasoning]) => reasoning)
        .join(''),
    ).toBe('a')
    expect(
      deltasOf(0)
        .map(([, content]) => content)
        .join(''),
    ).toBe('b')
    expect(
      deltasOf(1)
        .map(([, content]) => content)
        .join(''),
    ).toBe('plain<think>c')
  })
})

describe('a messages stream', () => {
  const event = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const start = event('message_start', { message: { model: 'client', usage: { input_tokens: 1, output_tokens: 1 } } })
  const stop =
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }) + event('message_stop')
  const block = (index: number, content_block: object, ...deltas: object[]) =>
    event('content_block_start', { index, content_block }) +
    deltas.map(delta => event('content_block_delta', { index, delta })).join('') +
    event('content_block_stop', { index })
  const text = (pieces: readonly string[]) =>
    block(1, { type: 'text', text: '' }, ...pieces.map(piece => ({ type: 'text_delta', text: piece })))
  const thinking = block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: '```' })
  const stream = (undoPlan: UndoPlan | null) => new MessagesRelay({ clientModel: 'client', countTokens, undoPlan })

  test('JSON is taken out of its fence, wherever it is split; thinking stays', () => {
    for (const pieces of cuts('```json\n{"a":"ế"}\n```')) {
      const told = relayed(stream(FENCE), start + thinking + text(pieces) + stop)
      const events = told
        .split('\n\n')
        .filter(Boolean)
        .map(one => JSON.parse(one.slice(one.indexOf('data: ') + 6)))
      const shown = events.map(one => one.delta?.text ?? '').join('')
      expect(shown, JSON.stringify(pieces)).toBe('{"a":"ế"}')
      expect(told).toContain(thinking)
    }
  })

  test('JSON without a fence passes as it is, in chunks of any size', () => {
    const plain = start + text(['{"a":', ...Array.from({ length: 50 }, () => ' 1,'), ' 2}']) + stop
    for (const bytes of [1, 7, 1_000_000]) {
      expect(relayed(stream(FENCE), plain, bytes)).toBe(relayed(stream(null), plain))
    }
  })

  test('tools get their names back, and nothing else changes', () => {
    const call = (name: string) =>
      block(1, { type: 'tool_use', id: 't', name, input: {} }, { type: 'input_json_delta', partial_json: '{}' })
    expect(relayed(stream({ ...NOTHING, names }), start + call(short) + stop)).toBe(start + call(LONG) + stop)
  })
})

test('non-streamed replies change in the same way, and keep every other byte', () => {
  const chat = (content: string, name: string, more: object = {}) => ({
    choices: [
      { message: { role: 'assistant', content, ...more, tool_calls: [{ function: { name, arguments: '{}' } }] }, n: 1 },
    ],
  })
  const edited = (reply: object, edits: Parameters<typeof editJson>[1]) =>
    JSON.parse(decodeText(editJson(asciiJson(reply), edits)))
  const given = chat('<think>h</think>\n```json\n{}\n```', short)
  const undoPlan: UndoPlan = { names, tag: 'think', unwrapsFence: true }
  expect(edited(given, undoneChat(given as never, undoPlan))).toEqual(chat('{}', LONG, { reasoning_content: 'h' }))
  const message = (text: string, name: string) => ({
    content: [
      { type: 'thinking', thinking: '```' },
      { type: 'text', text },
      { type: 'tool_use', name, input: {} },
    ],
  })
  const fenced = message('```\n{}\n```', short)
  expect(edited(fenced, undoneMessages(fenced as never, undoPlan))).toEqual(message('{}', LONG))
  expect(undoneChat(chat('plain', 'ok') as never, undoPlan)).toEqual([])
})
