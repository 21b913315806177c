/** Sealed (encrypted) reasoning reaches clients of any format; when they send it back, it is restored for its provider. */

import { describe, expect, test } from 'vitest'
import { FORMATS as FORMATS_OF } from '../../src/formats/index.ts'
import type { Dialect, WireName } from '../../src/generated/types.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import { translatorFor } from '../../src/translate/convert.ts'
import { planSameFormat } from '../../src/translate/same-format.ts'
import type { JsonObject, UpstreamEvent } from '../../src/translate/translator.ts'
import { contextOf, dialectOf, drain, ENVELOPES } from './support.ts'

const FORMATS = ['messages', 'chat_completions', 'responses'] as const
const SEAL = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h'
const TOOL = { type: 'object', properties: { city: { type: 'string' } } }

/** Pairs of a client's format and the wire format of a model that seals its reasoning. */
const CONVERSIONS = [
  ['messages', 'responses'],
  ['chat_completions', 'responses'],
  ['chat_completions', 'messages'],
  ['responses', 'messages'],
] as const

const event = (data: JsonObject): UpstreamEvent => ({ name: String(data.type), data: JSON.stringify(data) })

/** A streamed reply in each wire format that can carry sealed reasoning: reasoning, then a tool call. */
const REPLIES: Readonly<Record<'messages' | 'responses', readonly UpstreamEvent[]>> = {
  messages: [
    event({ type: 'message_start', message: { id: 'msg_up', usage: { input_tokens: 5, output_tokens: 1 } } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'First. ' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Second.' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: SEAL } }),
    event({ type: 'content_block_stop', index: 0 }),
    event({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
    }),
    event({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{"city":"Huế"}' },
    }),
    event({ type: 'content_block_stop', index: 1 }),
    event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }),
    event({ type: 'message_stop' }),
  ],
  responses: responseEvents(),
}

function responseEvents(): UpstreamEvent[] {
  const summary = ['First.', 'Second.'].map(text => ({ type: 'summary_text', text }))
  const reasoning = { type: 'reasoning', id: 'rs_up', summary, encrypted_content: SEAL }
  const call = { type: 'function_call', id: 'fc_up', call_id: 'call_1', name: 'look', arguments: '{"city":"Huế"}' }
  const usage = { input_tokens: 5, output_tokens: 9, total_tokens: 14 }
  const response = { id: 'resp_up', object: 'response', status: 'completed', output: [reasoning, call], usage }
  const piece = (summary_index: number, delta: string) =>
    event({ type: 'response.reasoning_summary_text.delta', item_id: 'rs_up', output_index: 0, summary_index, delta })
  return [
    event({ type: 'response.created', response: { ...response, status: 'in_progress', output: [] } }),
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...reasoning, summary: [], encrypted_content: 'unfinished' },
    }),
    piece(0, 'First.'),
    piece(1, 'Second.'),
    event({ type: 'response.output_item.done', output_index: 0, item: reasoning }),
    event({ type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } }),
    event({ type: 'response.function_call_arguments.delta', item_id: 'fc_up', output_index: 1, delta: call.arguments }),
    event({ type: 'response.output_item.done', output_index: 1, item: call }),
    event({ type: 'response.completed', response }),
  ]
}

function dialectFor(wire: WireName): Dialect {
  if (wire !== 'responses') return dialectOf({ reasoning: { parameter: wire === 'messages' ? 'adaptive' : null } })
  return dialectOf({
    turns: { item_ids: 'keep' },
    reasoning: { parameter: 'reasoning_effort', levels: ['low'], sealed: true },
  })
}

const contextFor = (wire: WireName, upstream = wire === 'responses' ? 'chat_completions' : wire) =>
  contextOf({ upstream, dialect: dialectFor(wire) })

const REQUESTS: Readonly<Record<WireName, (turns: readonly JsonObject[]) => JsonObject>> = {
  messages: turns => ({
    model: 'm',
    max_tokens: 4_000,
    tools: [{ name: 'look', input_schema: TOOL }],
    messages: [{ role: 'user', content: 'Look.' }, ...turns],
  }),
  chat_completions: turns => ({
    model: 'm',
    tools: [{ type: 'function', function: { name: 'look', parameters: TOOL } }],
    messages: [{ role: 'user', content: 'Look.' }, ...turns],
  }),
  responses: turns => ({
    model: 'm',
    store: false,
    tools: [{ type: 'function', name: 'look', parameters: TOOL }],
    input: [{ role: 'user', content: 'Look.' }, ...turns],
  }),
}

/** What the client sends back: the complete reply in its format, and the tool's result. */
const HISTORIES: Readonly<Record<WireName, (reply: JsonObject) => JsonObject[]>> = {
  messages: reply => [
    { role: 'assistant', content: reply.content! },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Rain.' }] },
  ],
  chat_completions: reply => [
    (reply.choices as { message: JsonObject }[])[0]!.message,
    { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
  ],
  responses: reply => [
    ...(reply.output as JsonObject[]),
    { type: 'function_call_output', call_id: 'call_1', output: 'Rain.' },
  ],
}

const whole = {
  messages: {
    type: 'message',
    content: [
      { type: 'thinking', thinking: 'First. Second.', signature: SEAL },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { city: 'Huế' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 5, output_tokens: 9 },
  },
  responses: JSON.parse(REPLIES.responses.at(-1)!.data).response as JsonObject,
}

/** The history of a client of this format after a call over that wire. */
function historyOf(client: WireName, wire: 'messages' | 'responses'): JsonObject[] {
  const translation = translatorFor(client, wire)(REQUESTS[client]([]), contextFor(wire))
  return HISTORIES[client](translation.reply(whole[wire]).body)
}

function bodyFor(
  client: WireName,
  wire: WireName,
  history: readonly JsonObject[],
  context = contextFor(wire),
): JsonObject {
  return translatorFor(client, wire)(REQUESTS[client](history), context).upstreamBody
}

/** The sealed reasoning in an upstream body, as the provider gets it. */
function sealedIn(body: JsonObject): JsonObject[] {
  const found: JsonObject[] = []
  JSON.stringify(body, (_key, value: JsonObject) => {
    if (value?.signature === SEAL || value?.encrypted_content === SEAL) found.push(value)
    return value
  })
  return found
}

describe.each(CONVERSIONS)('a client of %s over %s', (client, wire) => {
  const history = historyOf(client, wire)

  test('sends sealed reasoning back unchanged', () => {
    const [item, ...others] = sealedIn(bodyFor(client, wire, history))
    expect(others).toEqual([])
    if (wire === 'messages') {
      expect(item).toEqual({ type: 'thinking', thinking: 'First. Second.', signature: SEAL })
    } else {
      const summary = ['First.', 'Second.'].map(text => ({ type: 'summary_text', text }))
      expect(item).toEqual({ type: 'reasoning', id: 'rs_up', summary, encrypted_content: SEAL })
    }
  })

  test('gets the same envelope in a stream as in a non-streamed reply', () => {
    const stream = translatorFor(client, wire)({ ...REQUESTS[client]([]), stream: true }, contextFor(wire)).stream()
    const text = REPLIES[wire].map(each => decodeText(stream.push(each))).join('') + decodeText(stream.end())
    const envelopes = new Set(JSON.stringify(history).match(/gwm1\.[\w.-]+/g))
    const [envelope] = [...envelopes].filter(each => sealOf(each))
    expect(text).toContain(envelope)
  })

  test.each(['messages', 'chat_completions', 'responses'] as const)(
    'sends no sealed reasoning to another provider’s model over %s',
    other => {
      const context = contextFor(other)
      const elsewhere = { ...context, envelopes: { ...context.envelopes, origin: 'elsewhere' } }
      if (other === client) {
        if (other === 'responses') return
        const { body } = planSameFormat({
          format: other,
          body: REQUESTS[client](history),
          entry: context.entry,
          target: context.target,
          openEnvelope: ENVELOPES.open,
        })
        expect(JSON.stringify(body)).not.toMatch(/gwm1|EqQBCgIYAhIM/)
      } else {
        expect(JSON.stringify(bodyFor(client, other, history, elsewhere))).not.toMatch(/gwm1|EqQBCgIYAhIM/)
      }
    },
  )

  test('loses altered envelopes, and nothing else', () => {
    const forged = JSON.parse(JSON.stringify(history).replaceAll(/gwm1\.1\.(.)/g, 'gwm1.1.A$1')) as JsonObject[]
    const body = bodyFor(client, wire, forged)
    expect(JSON.stringify(body)).not.toMatch(/gwm1|EqQBCgIYAhIM/)
    expect(JSON.stringify(body)).toContain('Rain.')
  })
})

describe('a chat client of a model that signs its thinking', () => {
  const [message, result] = historyOf('chat_completions', 'messages')

  test.each([
    ['cut', { reasoning_content: 'First.' }],
    ['lost', { reasoning_content: null }],
  ])('sends no signature back with text that was %s', (_how, change) => {
    const body = bodyFor('chat_completions', 'messages', [{ ...message, ...change }, result!])
    expect(sealedIn(body)).toEqual([])
    expect(JSON.stringify(body)).toContain('Rain.')
  })

  test('gets no signature for reasoning after the answer, and sends the others back', () => {
    const reply = structuredClone(whole.messages)
    const [thinking, call] = reply.content
    reply.content = [thinking!, { type: 'text', text: 'Well.' }, { ...thinking!, thinking: 'Third.' }, call!] as never
    const context = contextFor('messages')
    const translation = translatorFor('chat_completions', 'messages')(REQUESTS.chat_completions([]), context)
    const history = HISTORIES.chat_completions(translation.reply(reply).body)
    expect(history[0]).toMatchObject({ reasoning_content: 'First. Second.\n\nThird.' })
    expect(history[0]!.reasoning_details).toHaveLength(1)
    expect(bodyFor('chat_completions', 'messages', history).messages).toMatchObject([
      { role: 'user' },
      { content: [thinking!, { type: 'text', text: 'Well.' }, { type: 'tool_use' }] },
      { role: 'user' },
    ])
  })
})

describe('a chat client that merges details with the same index, as official SDKs do', () => {
  const { output, ...response } = whole.responses
  const [reasoning, call] = output as JsonObject[]
  const reply = { ...response, output: [reasoning!, { ...reasoning, id: 'rs_2' }, call!] }
  const open = () =>
    translatorFor('chat_completions', 'responses')(REQUESTS.chat_completions([]), contextFor('responses'))
  const numbered = [0, 1].map(index => ({ type: 'reasoning.encrypted', data: expect.stringMatching(/^gwm1/), index }))

  test('gets an index of its own for each seal', () => {
    const [message] = HISTORIES.chat_completions(open().reply(reply).body)
    expect(message!.reasoning_details).toEqual(numbered)
  })

  test('gets the same indexes in a stream', () => {
    const text = drain(open().stream(), FORMATS_OF.responses.replay(reply))
    const details = [...text.matchAll(/"reasoning_details":(\[[^\]]*\])/g)].flatMap(([, json]) => JSON.parse(json!))
    expect(details).toEqual(numbered)
  })
})

function sealOf(envelope: string): boolean {
  return JSON.stringify(ENVELOPES.open(envelope) ?? null).includes(SEAL)
}

test('every pair of formats carries a conversation whose reasoning came from any other', () => {
  for (const client of FORMATS) {
    for (const made of ['messages', 'responses'] as const) {
      if (client === made) continue
      for (const wire of FORMATS.filter(each => each !== client)) {
        expect(JSON.stringify(bodyFor(client, wire, historyOf(client, made))), `${client} over ${wire}`).toContain(
          'Rain.',
        )
      }
    }
  }
})
