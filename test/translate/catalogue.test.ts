/** Requests can be converted for every model in the catalogue: no model has dialect settings that contradict each other. */

import { describe, expect, test } from 'vitest'
import type { GatewayError } from '../../src/errors.ts'
import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry } from '../../src/generated/types.ts'
import { decodeText, encodeText } from '../../src/lib/byte-text.ts'
import { editJson } from '../../src/lib/json-text.ts'
import { planSameFormat, type SameFormatCall, type SameFormatPlan } from '../../src/translate/same-format.ts'
import type { ChatFormat, JsonObject } from '../../src/translate/translator.ts'
import { CHAT_CASES } from './goldens/chat-cases.ts'
import { MESSAGES_CASES } from './goldens/messages-cases.ts'
import { chatViaMessages, contextOf, messagesViaChat } from './support.ts'
import { expectValidChat, expectValidMessages } from './validity.ts'

const chatModels = TABLES.entries.filter(entry => entry.kind === 'chat')
const cases = { messages: MESSAGES_CASES, chat_completions: CHAT_CASES }
const SHARED = ['text', 'tool loop', 'tool definitions', 'images', 'hostile data'] as const

function convert(entry: ModelEntry, body: JsonObject): JsonObject {
  const [target] = entry.upstreams
  const upstream = target!.standard as ChatFormat
  const translator = upstream === 'messages' ? chatViaMessages : messagesViaChat
  return translator(body, contextOf({ upstream, dialect: target!.dialect, entry })).upstreamBody
}

function request(entry: ModelEntry, name: string): JsonObject {
  const format = entry.apiStandard === 'messages' ? 'chat_completions' : 'messages'
  const { messages, ...body } = cases[format][name as 'text'] as JsonObject
  // If the model does not accept image URLs, the gateway fetches them before the conversion.
  const kept = JSON.parse(
    JSON.stringify(messages).replaceAll(/,?\{"type":"image","source":\{"type":"url"[^}]*\}\}/g, ''),
  )
  return { ...body, messages: kept }
}

function refusesImages({ capabilities, upstreams }: ModelEntry): boolean {
  return !capabilities.includes('vision') && upstreams[0]!.dialect.content.imagesUnsupported === 'reject'
}

describe.each(chatModels.map(entry => [entry.id, entry] as const))('%s', (_, entry) => {
  test('accepts converted conversations with tools and images', () => {
    for (const name of SHARED) {
      const asked = request(entry, name)
      if (refusesImages(entry) && JSON.stringify(asked).includes('{"type":"image')) {
        expect(() => convert(entry, asked)).toThrow('this model does not accept images')
        continue
      }
      const body = convert(entry, asked)
      if (entry.apiStandard === 'messages') expectValidMessages(body)
      else if (!entry.upstreams[0]!.dialect.turns.alternate) expectValidChat(body)
    }
  })

  test('leaves everything before a later instruction unchanged, so that its provider’s cache hits', () => {
    const turn = (role: string, content: string) => ({ role, content })
    const turns = [turn('user', 'hi'), turn('system', 'Be brief.'), turn('assistant', 'Hi.'), turn('user', 'go on')]
    const body = { max_tokens: 100, system: 's', messages: [...turns, turn('system', 'Be long.')] }
    for (const target of entry.upstreams) {
      if (target.standard !== 'messages') continue
      const paths = planned({ format: 'messages', body, entry, target })?.edits.map(({ path }) => path)
      expect(paths, 'only the instructions are edited').toSatisfy(all =>
        (all as string[]).every(path => /^\/messages\/[14]\/role$|^\/(thinking|output_config)/.test(path)),
      )
    }
  })

  test('accepts its own format with every edit', () => {
    const format = entry.apiStandard as ChatFormat
    for (const body of Object.values(cases[format]) as JsonObject[]) {
      for (const target of entry.upstreams) {
        const plan = planned({ format, body, entry, target })
        if (plan === null) continue
        const { edits, body: adapted } = plan
        expect(new Set(edits.map(edit => edit.path)).size, 'no place is edited twice').toBe(edits.length)
        const text = encodeText(JSON.stringify(body))
        const sent = JSON.parse(decodeText(editJson(text, edits)))
        expect(sent).toEqual(JSON.parse(JSON.stringify(adapted)))
      }
    }
  })
})

test('MiniMax and Qwen, whose hosts refuse a second system message, get one', () => {
  const turn = (role: string, content: string) => ({ role, content })
  const turns = [
    turn('user', 'hi'),
    turn('system', 'The agents are A and B.'),
    turn('assistant', 'Hi.'),
    turn('user', 'go'),
  ]
  const entries = chatModels.filter(({ upstreams }) => /minimax|qwen/i.test(upstreams[0]!.model))
  expect(entries.length).toBeGreaterThan(2)
  for (const entry of entries) {
    const converted = convert(entry, { max_tokens: 100, system: 'Be brief.', messages: turns })
    const body = { messages: [turn('system', 'Be brief.'), turn('system', 'Today is Monday.'), ...turns] }
    const same = planned({ format: 'chat_completions', body, entry, target: entry.upstreams[0]! })?.body
    for (const { messages } of [converted, same as unknown as JsonObject]) {
      const roles = (messages as JsonObject[]).map(({ role }) => role)
      expect([roles.indexOf('system'), roles.lastIndexOf('system')], entry.id).toEqual([0, 0])
      expect(JSON.stringify(messages), entry.id).toContain('The agents are A and B.')
    }
  }
})

test('Mistral, whose validator refuses a user turn after a tool result, gets an answer between them', () => {
  // The roles that its validator takes after each role (github.com/mistralai/mistral-common, read 2026-11).
  const next: Record<string, readonly string[]> = {
    system: ['user', 'assistant'],
    user: ['assistant'],
    assistant: ['user', 'tool'],
    tool: ['tool', 'assistant'],
  }
  const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'look', input: {} })
  const result = (id: string, content: string | JsonObject[]): JsonObject => ({
    type: 'tool_result',
    tool_use_id: id,
    content,
  })
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [use('t1'), use('t2')] },
    { role: 'user', content: [result('t1', 'ok'), result('t2', [png]), { type: 'text', text: 'A reminder.' }] },
    { role: 'assistant', content: 'Done.' },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'go on' },
    { role: 'assistant', content: [use('t3')] },
    { role: 'user', content: [result('t3', 'ok')] },
  ]
  const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })
  const chat = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [call('call_1')] },
    { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
    { role: 'user', content: 'no, stop' },
  ]
  const entries = chatModels.filter(({ upstreams }) => upstreams[0]!.model.startsWith('mistral.'))
  expect(entries.length).toBeGreaterThan(0)
  for (const entry of entries) {
    const converted = convert(entry, {
      max_tokens: 100,
      system: 's',
      messages,
      tools: [{ name: 'look', input_schema: {} }],
    })
    const body = { messages: chat }
    const same = planned({ format: 'chat_completions', body, entry, target: entry.upstreams[0]! })?.body
    for (const sent of [converted, same as unknown as JsonObject]) {
      const roles = (sent.messages as JsonObject[]).map(({ role }) => String(role))
      for (const [index, role] of roles.slice(1).entries()) expect(next[roles[index]!], `${roles}`).toContain(role)
      expect(['user', 'tool']).toContain(roles.at(-1))
    }
    expect(JSON.stringify(converted.messages)).toMatch(/A reminder\..*Be brief\./)
  }
})

test('Kimi, whose validator wants a type at every value, gets tools that have one', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string', enum: ['x', null] } }, required: ['a'] }
  const typed = { anyOf: [{ type: 'string', enum: ['x'] }, { type: 'null' }] }
  const messages = [{ role: 'user', content: 'hi' }]
  const entries = chatModels.filter(({ upstreams }) => upstreams[0]!.via === 'moonshotai')
  expect(entries.length).toBeGreaterThan(2)
  for (const entry of entries) {
    const tools = [{ name: 'f', input_schema: parameters }]
    const converted = convert(entry, { max_tokens: 100, messages, tools })
    const body = { messages, tools: [{ type: 'function', function: { name: 'f', parameters } }] }
    const same = planned({ format: 'chat_completions', body, entry, target: entry.upstreams[0]! })?.body
    for (const sent of [converted, same as unknown as JsonObject]) {
      expect(sent.tools, entry.id).toMatchObject([{ function: { parameters: { properties: { a: typed } } } }])
    }
  }
})

test('MiniMax and Kimi, which refuse a tool without parameters, get an empty schema', () => {
  const body = { messages: [{ role: 'user', content: 'hi' }], tools: [{ type: 'function', function: { name: 'f' } }] }
  const entries = chatModels.filter(({ upstreams }) => /minimax|moonshotai$/i.test(upstreams[0]!.via))
  expect(entries.length).toBeGreaterThan(2)
  for (const entry of entries) {
    const sent = planned({ format: 'chat_completions', body, entry, target: entry.upstreams[0]! })?.body
    const parameters = { type: 'object', properties: {} }
    expect(sent, entry.id).toMatchObject({ tools: [{ function: { name: 'f', parameters } }] })
  }
})

/** The plan for a call; null if the call is refused. */
function planned(call: SameFormatCall): SameFormatPlan | null {
  try {
    return planSameFormat(call)
  } catch (error) {
    expect((error as GatewayError).code, String(error)).toMatch(/^(invalid_request|thread_unsupported)$/)
    return null
  }
}

describe('an effort reaches each model in its own terms', () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const wish = (entry: ModelEntry): JsonObject =>
    entry.apiStandard === 'messages'
      ? { messages, reasoning_effort: 'medium', max_tokens: 30_000 }
      : { messages, max_tokens: 30_000, thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }

  // biome-ignore format: one model per line
  test.each<[string, object]>([
    ['claude-fable-5', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } }],
    ['claude-opus-4-6', { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
    ['claude-haiku-4-5', { thinking: { type: 'enabled', budget_tokens: 8192 } }],
    ['gpt-5.5', { reasoning_effort: 'medium' }],
    ['gpt-5.1', { reasoning_effort: 'medium' }],
    ['gpt-6-sol', { reasoning_effort: 'medium' }],
    ['deepseek-v4-flash', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['qwen3.7-max', { enable_thinking: true, thinking_budget: 8192 }],
    ['kimi-k2.6', { thinking: { type: 'enabled' } }],
    ['glm-5.2', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['gemini-3.5-flash', { reasoning_effort: 'medium' }],
    ['grok-4.3', { reasoning_effort: 'medium' }],
    ['svc/gpt-oss-120b', { reasoning_effort: 'medium' }],
    ['qwen3-coder-plus', {}],
  ])('%s', (id, fields) => {
    const entry = chatModels.find(each => each.id === id)!
    const { model, messages: sent, max_tokens, max_completion_tokens, ...rest } = convert(entry, wish(entry))
    expect(rest).toEqual(fields)
    expect([model, sent, max_tokens ?? max_completion_tokens]).toEqual(['upstream-model', messages, expect.any(Number)])
  })
})
