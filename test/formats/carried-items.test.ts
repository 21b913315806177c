/**
 * Items of the responses format whose contents are encoded in their ids, so that references to them resolve although nothing is
 * stored.
 */

import { deflateRawSync } from 'node:zlib'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage, streamText, tool } from 'ai'
import {
  generateText as generateText5,
  type ModelMessage as Message5,
  streamText as streamText5,
  tool as tool5,
} from 'ai-5'
import { createOpenAI as createOpenAI5 } from 'ai-sdk-openai-2'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  CARRYING_ID_LENGTH_MAX,
  CarriedItems,
  carryingId,
  IdReader,
  type OpenEnvelope,
} from '../../src/conversation/carried-items.ts'
import { makeEnvelopeSigner } from '../../src/conversation/envelope.ts'
import { ResponsesWriter, writeReply } from '../../src/formats/responses/write-reply.ts'
import { encodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { strictResponse } from './responses-grammar.ts'
import {
  call,
  delta,
  echoOf,
  factsOf,
  folded,
  open,
  part,
  readByOpenAi,
  SIGNER,
  type Step,
  written,
} from './responses-support.ts'

const ECHO = echoOf({ refersToItems: true })
const THOUGHT: Step[] = [
  open({ kind: 'reasoning' }),
  delta('Look first.'),
  { do: 'close', seal: { wire: 'messages', signature: 'EqQB' } },
]
const FIRST: Step[] = [...THOUGHT, ...part('text', 'I look it up.'), ...call('look_up', 'call_1', '{"city":"Hue"}')]
const SECOND: Step[] = part('text', 'It is warm in Huế.')

const streamOf = (steps: readonly Step[], echo = ECHO) => written(new ResponsesWriter(echo, freshFacts()), steps)
let made = 0
/** Options for the reply writers that never repeat an id, because the replies of one conversation must have different ids. */
const freshFacts = () => factsOf({ newId: () => `id${made++}` })

const carrying = (items: JsonObject[]) =>
  carryingId(
    'rs_',
    items.map(item => encodeText(JSON.stringify(item))),
    SIGNER.wrapJson,
  )
const itemsCarriedBy = (id: string, open: OpenEnvelope) => new IdReader(open).itemsOf(id)
const deflated = (items: JsonObject[]) => deflateRawSync(JSON.stringify(items)).toString('base64url')

describe('an id', () => {
  const items = [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Xin chào' }] }]
  const id = carrying(items) ?? ''

  test('opens to the items that it carries', () => {
    expect(itemsCarriedBy(id, SIGNER.open)).toEqual(items)
    expect(new CarriedItems(['msg_1', id], SIGNER.open).resolve('msg_1')).toEqual(items)
  })

  test('carries short items as they are, and compresses long ones', () => {
    const long = [{ ...items[0], content: [{ type: 'output_text', text: 'Xin chào. '.repeat(1_000) }] }]
    const longId = carrying(long) ?? ''
    expect(itemsCarriedBy(longId, SIGNER.open)).toEqual(long)
    expect(SIGNER.open(id.slice(3))).toMatchObject({ items })
    expect(SIGNER.open(longId.slice(3))).toMatchObject({ deflated: expect.any(String) })
  })

  test('opens with short items that are compressed, as earlier versions issued it', () => {
    expect(itemsCarriedBy(`rs_${SIGNER.wrap({ kind: 'items', deflated: deflated(items) })}`, SIGNER.open)).toEqual(
      items,
    )
  })

  test('does not resolve to an item of its own if it only carries items with other ids', () => {
    expect(new CarriedItems([id], SIGNER.open).resolve(id)).toEqual([])
  })

  test.each([
    ['plain', 'msg_1'],
    ['empty', ''],
    ['changed', id.replace(/.$/, last => (last === 'A' ? 'B' : 'A'))],
    ['cut', id.slice(0, -9)],
    ['too long', `rs_${'x'.repeat(CARRYING_ID_LENGTH_MAX)}`],
    ['with an envelope of another kind', `rs_${SIGNER.wrap({ kind: 'other', items, deflated: deflated(items) })}`],
    ['with items that are not a list', `rs_${SIGNER.wrap({ kind: 'items', items: 'msg_1' })}`],
    ['without deflated JSON', `rs_${SIGNER.wrap({ kind: 'items', deflated: 'AAAA' })}`],
  ])('%s carries nothing', (_what, other) => {
    expect(itemsCarriedBy(other, SIGNER.open)).toEqual([])
    expect(new CarriedItems([other], SIGNER.open).resolve(other)).toBeNull()
  })

  test('is opened once, and its item used once, however often a request repeats it', () => {
    let opened = 0
    const ids = [id, ...['msg_1', 'msg_1'], id, id.replace('rs_', 'other_')]
    const carried = new CarriedItems(ids, text => {
      if (text === id.slice(3)) opened++
      return SIGNER.open(text)
    })
    expect(opened).toBe(1)
    expect([carried.resolve('msg_1'), carried.resolve('msg_1'), carried.resolve(id)]).toEqual([items, [], []])
  })

  test('is refused if all ids of a request together carry more than any model can read', () => {
    const ids = Array.from({ length: 17 }, (_, index) => carrying([{ id: `msg_${index}`, text: 'a'.repeat(500_000) }])!)
    expect(new CarriedItems(ids.slice(0, 16), SIGNER.open).resolve('msg_15')).toHaveLength(1)
    expect(() => new CarriedItems(ids, SIGNER.open)).toThrow('input: the items that it refers to are too long together')
  })

  test('opens only for the account that got it', () => {
    const other = makeEnvelopeSigner({ currentId: 1, secrets: new Map([[1, Buffer.alloc(32, 7)]]) }, 'account-2')
    expect(itemsCarriedBy(id, other.open)).toEqual([])
  })

  test('stays within its length limit, and its content within the limit for inflating', () => {
    const noise = Array.from({ length: 40_000 }, (_, index) => (index * 2_654_435_761) % 4_294_967_296).join('')
    expect(carrying([{ text: noise }])).toBeNull()
    expect(carrying([{ text: 'a'.repeat(600_000) }])).toBeNull()
    expect(carrying([{ text: 'a'.repeat(400_000) }])?.length).toBeLessThan(4_000)
  })
})

describe('a stream', () => {
  test('ends with an item that carries the earlier ones', async () => {
    const sse = streamOf(FIRST)
    const { output } = strictResponse(sse) as { output: JsonObject[] }
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'reasoning'])
    expect(output[3]).toMatchObject({ summary: [] })
    expect(itemsCarriedBy(String(output[3]?.id), SIGNER.open)).toEqual(output.slice(0, 3))
    expect((await readByOpenAi(sse)).output_text).toBe('I look it up.')
  })

  test('carries nothing for clients that send items in full, or if there is nothing to refer to', () => {
    expect(strictResponse(streamOf(FIRST, echoOf())).output).toHaveLength(3)
    expect(strictResponse(streamOf([])).output).toHaveLength(0)
  })

  test('leaves out reasoning if the items are too long together, then function calls, and carries nothing if texts are', () => {
    const noise = () => Array.from({ length: 100_000 }, () => Math.random().toString(36)[2]).join('')
    const thought = [open({ kind: 'reasoning' }), delta(noise()), { do: 'close' } as const]
    const carriedBy = (steps: readonly Step[]) => {
      const { output } = strictResponse(streamOf(steps)) as { output: JsonObject[] }
      const carried = itemsCarriedBy(String(output.at(-1)?.id), SIGNER.open)
      return { items: output.map(({ type }) => type), carried: carried.map(({ type }) => type) }
    }
    const short = call('look_up', 'call_1', '{}')
    const long = call('look_up', 'call_2', JSON.stringify({ city: noise() }))
    expect(carriedBy([...thought, ...SECOND, ...short]).carried).toEqual(['message', 'function_call'])
    expect(carriedBy([...thought, ...SECOND, ...short, ...long]).carried).toEqual(['message'])
    const unable = { items: ['message'], carried: [] }
    expect(carriedBy(part('text', noise()))).toEqual(unable)
    expect(carriedBy([...thought, ...long])).toEqual({ ...unable, items: ['reasoning', 'function_call'] })
  })
})

test('items of a non-streamed reply carry themselves, unless they are too long', () => {
  const output = writeReply(folded([...FIRST, ...call('apply_patch', 'call_2', '{"input":"x"}')]), ECHO, freshFacts())
    .output as JsonObject[]
  expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'custom_tool_call'])
  const ids = output.map(({ id }) => String(id))
  expect(ids.map(id => /^[a-z]+_/.exec(id)?.[0])).toEqual(['rs_', 'msg_', 'fc_', 'ctc_'])
  const carried = new CarriedItems(ids, SIGNER.open)
  const resolved = ids.map(id => carried.resolve(id))
  expect(resolved).toEqual(output.map(({ id: _, ...rest }) => [rest]))
})

test('equal items of a non-streamed reply get different ids', () => {
  const output = writeReply(folded([...SECOND, ...SECOND]), ECHO, freshFacts()).output as JsonObject[]
  const ids = output.map(({ id }) => String(id))
  expect(new Set(ids).size).toBe(2)
  const carried = new CarriedItems(ids, SIGNER.open)
  expect(carried.resolve(ids[0]!)).toEqual(carried.resolve(ids[1]!))
})

/**
 * Simulates a gateway that stores nothing, for the AI SDK, which by default sends references to earlier items. Ids contain the
 * items, so the server can put the items back. Records the input of each request after that.
 */
class Server {
  readonly inputs: JsonObject[][] = []
  readonly #replies: (readonly Step[])[]

  constructor(replies: (readonly Step[])[]) {
    this.#replies = replies
  }

  /** Options of the provider packages. */
  get options() {
    return {
      apiKey: 'k',
      fetch: (_url: unknown, init?: RequestInit) => this.#answer(JSON.parse(String(init?.body))),
    }
  }

  async #answer({ input, stream, store }: JsonObject): Promise<Response> {
    expect(store, 'its default').toBeUndefined()
    const items = input as JsonObject[]
    const ids = items.filter(({ type }) => type === 'item_reference').map(({ id }) => String(id))
    const carried = new CarriedItems(ids, SIGNER.open)
    const resolved = (item: JsonObject) =>
      carried.resolve(String(item.id)) ?? expect.fail('a reference that cannot be resolved')
    this.inputs.push(items.flatMap(item => (item.type === 'item_reference' ? resolved(item) : [item])))
    const steps = this.#replies[this.inputs.length - 1] ?? SECOND
    if (stream !== true) return Response.json(writeReply(folded(steps), ECHO, freshFacts()))
    return new Response(streamOf(steps), { headers: { 'content-type': 'text/event-stream' } })
  }
}

/** Does a loop of steps, each with the results of the calls that the one before it asked for. */
type Loop<Message> = (server: Server, messages: Message[]) => Promise<{ text: string; messages: Message[] }>

const LOOK_UP = { inputSchema: z.object({ city: z.string() }), execute: () => 'warm' }
const stopWhen = () => false

const options = { tools: { look_up: tool(LOOK_UP) }, stopWhen, maxRetries: 0 }
const streamed: Loop<ModelMessage> = async (server, messages) => {
  const result = streamText({ model: createOpenAI(server.options).responses('m'), messages, ...options })
  await result.consumeStream()
  return { text: await result.text, messages: await result.responseMessages }
}
const whole: Loop<ModelMessage> = async (server, messages) => {
  const result = await generateText({ model: createOpenAI(server.options).responses('m'), messages, ...options })
  return { text: result.text, messages: result.responseMessages }
}

const options5 = { tools: { look_up: tool5(LOOK_UP) }, stopWhen, maxRetries: 0 }
const streamed5: Loop<Message5> = async (server, messages) => {
  const result = streamText5({ model: createOpenAI5(server.options).responses('m'), messages, ...options5 })
  await result.consumeStream()
  return { text: await result.text, messages: (await result.response).messages }
}
const whole5: Loop<Message5> = async (server, messages) => {
  const result = await generateText5({ model: createOpenAI5(server.options).responses('m'), messages, ...options5 })
  return { text: result.text, messages: result.response.messages }
}

describe('the AI SDK with default settings refers to items, and every reference resolves', () => {
  const history = [
    { role: 'user' },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Look first.' }],
      encrypted_content: expect.any(String),
    },
    { type: 'message', content: [{ type: 'output_text', text: 'I look it up.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"city":"Hue"}' },
    { type: 'function_call_output', call_id: 'call_1' },
  ]
  const answered = { type: 'message', content: [{ type: 'output_text', text: 'It is warm in Huế.' }] }

  async function converses<Message extends ModelMessage | Message5>(loop: Loop<Message>): Promise<void> {
    const server = new Server([FIRST, SECOND])
    const question = { role: 'user', content: 'How is Hue?' } as Message
    const further = { role: 'user', content: 'And now?' } as Message
    const { text, messages } = await loop(server, [question])
    expect(text).toBe('It is warm in Huế.')
    await loop(server, [question, ...messages, further])
    expect(server.inputs[1]).toMatchObject(history)
    expect(server.inputs[2]).toMatchObject([...history, answered, { role: 'user' }])
  }

  test('streamed', () => converses(streamed))
  test('whole', () => converses(whole))
  test('streamed, version 5, which refers to calls too', () => converses(streamed5))
  test('whole, version 5', () => converses(whole5))
})
