/** Conversation history in the Responses format: the sandbox checks reasoning, calls and ids as the provider does. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PATHS, post, startTestSandbox } from './support.ts'

type Fields = Record<string, unknown>

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

const TOOL = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const ASK = { role: 'user', content: 'The weather in "Huế"?' }
const call = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Huế"}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'rain' }
const reasoning = { type: 'reasoning', summary: [] }

async function ask(input: unknown, more: Fields = {}): Promise<{ status: number; body: Fields }> {
  const body = { model: 'sealer', store: false, tools: [TOOL], input, ...more }
  const response = await post(sandbox, PATHS.responses, body)
  return { status: response.status, body: (await response.json()) as Fields }
}

const SEALED = { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }

test('accepts the reasoning that it sealed, in a tool loop', async () => {
  const first = await ask([ASK], SEALED)
  const items = first.body.output as Fields[]
  expect(items.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
  expect(items[0]!.encrypted_content).toMatch(/^gAAAA/)
  const back = { ...output, call_id: items[1]!.call_id }
  expect(await ask([ASK, ...items, back], SEALED)).toMatchObject({ status: 200 })
})

test.each<[string, unknown[], number, string]>([
  ['another provider’s seal', [ASK, { ...reasoning, id: 'rs_1', encrypted_content: 'gAAAAABother' }, call, output], 400, 'could not be verified'],
  ['an id without a seal', [ASK, { ...reasoning, id: 'rs_1' }, call, output], 404, "Item with id 'rs_1' not found"],
  ['reasoning with nothing after it', [ASK, reasoning, ASK], 400, 'without its required following item'],
  ['an id of another kind', [ASK, { ...call, id: 'call_1' }, output], 400, "begins with 'fc'"],
  ['a long call id', [ASK, { ...call, call_id: 'c'.repeat(65) }, output], 400, 'maximum length 64'],
  ['an unknown reference', [ASK, { type: 'item_reference', id: 'msg_1' }], 404, "Item with id 'msg_1' not found"],
  ["a part of the user's in the assistant's message", [ASK, { role: 'assistant', content: [{ type: 'input_text', text: 'a' }] }, ASK], 400, "'output_text'"],
  ['an output without its custom call', [ASK, { type: 'custom_tool_call_output', call_id: 'c', output: '' }], 400, 'No tool call found'],
])('refuses %s', async (_what, input, status, words) => {
  const reply = await ask(input)
  expect(reply.status).toBe(status)
  expect((reply.body.error as Fields).message).toContain(words)
}) // biome-ignore format: a row per case

test('refuses a tool schema with a choice at its root', async () => {
  const { status, body } = await ask('Hello', { tools: [{ ...TOOL, parameters: { ...TOOL.parameters, oneOf: [] } }] })
  expect([status, body.error]).toMatchObject([400, { code: 'invalid_function_parameters' }])
})

test('refuses to seal for a model that does not reason', async () => {
  const { status, body } = await ask('Hello', { model: 'plain', tools: [], include: SEALED.include })
  expect([status, body.error]).toMatchObject([400, { message: 'Encrypted content is not supported with this model.' }])
})

test('remembers items by id if it stores responses', async () => {
  const first = await ask([ASK], { store: true, ...SEALED, tools: [] })
  const items = (first.body.output as Fields[]).map(({ id }) => ({ type: 'item_reference', id }))
  expect(items).toHaveLength(2)
  expect(await ask([ASK, ...items, ASK], { store: true })).toMatchObject({ status: 200 })
})

describe('a model whose reasoning is text', () => {
  const model = 'writer'

  test('sends it as content, also in streams', async () => {
    const response = await post(sandbox, PATHS.responses, { model, input: 'Hello', stream: true })
    const events = (await response.text()).match(/(?<=^event: ).*/gm)!
    expect([...new Set(events)]).toEqual(
      expect.arrayContaining(['response.reasoning_text.delta', 'response.reasoning_text.done']),
    )
    const { body } = await ask('Hello', { model, tools: [] })
    expect((body.output as Fields[])[0]).toMatchObject({ summary: [], content: [{ type: 'reasoning_text' }] })
  })

  test('stores nothing', async () => {
    const { body } = await ask('Hello', { model, tools: [], store: true })
    const input = [{ type: 'item_reference', id: (body.output as Fields[])[0]!.id }, ASK]
    expect(await ask(input, { model, store: true })).toMatchObject({ status: 404 })
    expect(await ask([ASK], { model, store: true, previous_response_id: body.id })).toMatchObject({ status: 400 })
  })

  test('requires it before each call', async () => {
    const full = { ...reasoning, content: [{ type: 'reasoning_text', text: 'Rain?' }] }
    expect(await ask([ASK, full, call, output], { model })).toMatchObject({ status: 200 })
    for (const before of [[], [reasoning]]) {
      const { status, body } = await ask([ASK, ...before, call, output], { model })
      expect([status, body.error]).toMatchObject([400, { message: expect.stringContaining('must be passed back') }])
    }
  })
})

test('a chat model that refuses an effort with tools names the endpoint to use', async () => {
  const body = { messages: [ASK], tools: [{ type: 'function', function: TOOL }] }
  const post_ = async (model: string, more: Fields) =>
    (await post(sandbox, PATHS.chat, { model, ...body, ...more })).status
  expect(await post_('sealer', { reasoning_effort: 'low' })).toBe(400)
  expect(await post_('sealer', {})).toBe(200)
  expect(await post_('writer', {})).toBe(400)
  expect(await post_('writer', { reasoning_effort: 'none' })).toBe(200)
})
