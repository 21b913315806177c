/** Edits of pass-through bodies: exactly what the dialect requires and nothing more. */

import { describe, expect, test } from 'vitest'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import { hash } from '../../src/conversation/names.ts'
import { decodeText, encodeText } from '../../src/lib/byte-text.ts'
import { editJson } from '../../src/lib/json-text.ts'
import { passesThrough, planSameFormat } from '../../src/translate/same-format.ts'
import type { ChatFormat, JsonObject } from '../../src/translate/translator.ts'
import { dialectOf } from './support.ts'

const ROOMY = { outputTokensMax: 100_000, contextTokens: null, capabilities: ['vision'] } as const

function plan(format: ChatFormat, body: object, facts: DialectFacts) {
  const target = { dialect: dialectOf(facts) }
  return planSameFormat({ format, body: body as JsonObject, entry: { ...ROOMY, outputTokensMax: 1000 }, target })
}

/** The body after its text has been edited. */
function edited(format: ChatFormat, body: object, facts: DialectFacts): JsonObject {
  const adapted = plan(format, body, facts)
  const text = encodeText(JSON.stringify(body))
  const sent = JSON.parse(decodeText(editJson(text, adapted.edits))) as JsonObject
  expect(sent).toEqual(JSON.parse(JSON.stringify(adapted.body)))
  return sent
}

const EFFORTS: DialectFacts = { reasoning: { parameter: 'reasoning_effort', levels: ['none', 'low', 'high'] } }
const SWITCH: DialectFacts = {
  reasoning: { parameter: 'thinking_type', levels: ['high', 'max'], by_default: true },
  tools: { forced: 'not_with_thinking' },
}
const tools = [{ type: 'function', function: { name: 'f' } }]

// biome-ignore format: one case per line: dialect, before, after
const CHAT_EDITS: [string, DialectFacts, object, object][] = [
  ['a body that fits stays', {}, { max_tokens: 9, temperature: 1, messages: [{ role: 'system', content: 'x' }], x: 1 }, { max_tokens: 9, temperature: 1, messages: [{ role: 'system', content: 'x' }], x: 1 }],
  ['the cap gets its name and its limit', { output: { cap_field: 'max_completion_tokens' } }, { max_tokens: 5000 }, { max_completion_tokens: 1000 }],
  ['the newer name becomes the older', {}, { max_completion_tokens: 50 }, { max_tokens: 50 }],
  ['of two caps the newer one counts', {}, { max_tokens: 10, max_completion_tokens: 50 }, { max_tokens: 50 }],
  ['a null cap under the other name is removed', {}, { max_completion_tokens: null }, {}],
  ['an invalid cap is left for the upstream to refuse', {}, { max_tokens: -5 }, { max_tokens: -5 }],
  ['sampling parameters are removed where none are accepted', { sampling: { parameters: null } }, { temperature: 0, top_p: 1, top_k: 2, presence_penalty: 1, frequency_penalty: 0, logit_bias: {}, logprobs: true, top_logprobs: 2, seed: 1 }, { seed: 1 }],
  ['the temperature is clamped', { sampling: { temperature_max: 1 } }, { temperature: 1.5 }, { temperature: 1 }],
  ['of two parameters, the temperature stays', { sampling: { parameters: 'temperature_xor_top_p' } }, { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5 }],
  ['top_p alone stays', { sampling: { parameters: 'temperature_xor_top_p' } }, { temperature: null, top_p: 0.5 }, { temperature: null, top_p: 0.5 }],
  ['sampling parameters are removed while the model reasons', { ...SWITCH, sampling: { parameters: 'all_unless_thinking' } }, { temperature: 0.5 }, {}],
  ['sampling parameters stay if reasoning is off', { ...SWITCH, sampling: { parameters: 'all_unless_thinking' } }, { temperature: 0.5, thinking: { type: 'disabled' } }, { temperature: 0.5, thinking: { type: 'disabled' } }],
  ['an effort becomes the nearest level', EFFORTS, { reasoning_effort: 'medium' }, { reasoning_effort: 'high' }],
  ['an effort that is accepted stays', EFFORTS, { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
  ['an effort is removed where none is accepted', {}, { reasoning_effort: 'low', thinking: { type: 'enabled' }, reasoning: { effort: 'low' } }, {}],
  ['an effort is removed if there are tools', { reasoning: { ...EFFORTS.reasoning, beside_tools: 'refused' } }, { reasoning_effort: 'low', tools }, { tools }],
  ['with tools, the effort is explicitly none', { reasoning: { ...EFFORTS.reasoning, beside_tools: 'explicit_none' } }, { tools }, { tools, reasoning_effort: 'none' }],
  ['an effort becomes a switch', SWITCH, { reasoning_effort: 'medium' }, { reasoning_effort: 'high', thinking: { type: 'enabled' } }],
  ['no effort becomes a switch', SWITCH, { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ['the upstream’s own switch stays as it is', SWITCH, { thinking: { type: 'enabled', keep: 1 } }, { thinking: { type: 'enabled', keep: 1 } }],
  ['an effort becomes a budget', { reasoning: { parameter: 'enable_thinking', budget_field: 'thinking_budget' } }, { reasoning_effort: 'low' }, { enable_thinking: true, thinking_budget: 2048 }],
  ['reasoning is off where it works in streams only', { reasoning: { parameter: 'enable_thinking', stream_only: true } }, { enable_thinking: true }, { enable_thinking: false }],
  ['a forced tool switches reasoning off', SWITCH, { tools, tool_choice: 'required' }, { tools, tool_choice: 'required', thinking: { type: 'disabled' } }],
  ['a tool is not forced if reasoning cannot be switched off', { reasoning: { parameter: 'thinking_type', by_default: true, disable: 'refused' }, tools: { forced: 'not_with_thinking' } }, { tools, tool_choice: { type: 'function', function: { name: 'f' } } }, { tools, tool_choice: 'auto' }],
  ['a tool cannot be forced', { tools: { forced: 'refused' } }, { tools, tool_choice: 'required' }, { tools, tool_choice: 'auto' }],
  ['the parallel flag is removed', { tools: { parallel_flag: false } }, { tools, parallel_tool_calls: false }, { tools }],
  ['strict and meta schemas are removed', { tools: { strict: 'drop', schema: 'no_meta_schema' } }, { tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: { $schema: 'x', type: 'object' } } }] }, { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] }],
  ['developer messages become system messages', {}, { messages: [{ role: 'developer', content: 'x' }] }, { messages: [{ role: 'system', content: 'x' }] }],
  ['developer messages stay where they are supported', { turns: { system_role: 'developer' } }, { messages: [{ role: 'developer', content: 'x' }, { role: 'system', content: 'y' }] }, { messages: [{ role: 'developer', content: 'x' }, { role: 'system', content: 'y' }] }],
  ['later instructions become user text', { turns: { mid_system: 'user_text' } }, { messages: [{ role: 'system', content: 'x' }, { role: 'user', content: 'y' }, { role: 'developer', content: 'z' }] }, { messages: [{ role: 'system', content: 'x' }, { role: 'user', content: 'y' }, { role: 'user', content: 'z' }] }],
  ['instructions at the front become one message where later ones are not kept', { turns: { mid_system: 'user_text' } }, { messages: [{ role: 'system', content: 'x' }, { role: 'developer', content: 'y' }, { role: 'user', content: 'z' }] }, { messages: [{ role: 'system', content: 'x\n\ny' }, { role: 'user', content: 'z' }] }],
  ['instructions at the front join those that move there', { turns: { mid_system: 'hoist' } }, { messages: [{ role: 'system', content: 'a' }, { role: 'system', content: 'b' }, { role: 'user', content: 'c' }, { role: 'system', content: 'd' }] }, { messages: [{ role: 'system', content: 'a\n\nb\n\nd' }, { role: 'user', content: 'c' }] }],
  ['reasoning in the history is removed', {}, { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'h', reasoning: 'h' }] }, { messages: [{ role: 'assistant', content: 'a' }] }],
  ['reasoning in the history stays', { reasoning: { echo: 'if_present' } }, { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'h' }, { role: 'assistant', content: 'b' }] }, { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'h' }, { role: 'assistant', content: 'b' }] }],
  ['missing reasoning is replaced where it is required', { reasoning: { echo: 'always' } }, { messages: [{ role: 'assistant', content: 'a', reasoning_content: null }, { role: 'assistant', content: 'b', reasoning_content: '' }] }, { messages: [{ role: 'assistant', content: 'a', reasoning_content: '' }, { role: 'assistant', content: 'b', reasoning_content: '' }] }],
  ['required reasoning is never empty', { reasoning: { echo: 'always', echo_placeholder: ' ' } }, { messages: [{ role: 'assistant', content: 'b', reasoning_content: '' }] }, { messages: [{ role: 'assistant', content: 'b', reasoning_content: ' ' }] }],
  ['calls without a signature get the placeholder', { tools: { signature: { path: '/extra/a/b', placeholder: 's' } } }, { messages: [{ role: 'assistant', tool_calls: [{ id: '1' }, { id: '2' }] }, { role: 'assistant', tool_calls: [{ id: '3', extra: { a: { b: 'own' } } }] }] }, { messages: [{ role: 'assistant', tool_calls: [{ id: '1', extra: { a: { b: 's' } } }, { id: '2' }] }, { role: 'assistant', tool_calls: [{ id: '3', extra: { a: { b: 'own' } } }] }] }],
  ['a schema is described in the prompt', { structured_output: { method: 'json_object' } }, { messages: [{ role: 'user', content: 'hi' }], response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } } }, { messages: [{ role: 'system', content: 'Reply with one JSON object and nothing else: no explanation, no code fence. The JSON must be valid against this schema:\n{"type":"object"}' }, { role: 'user', content: 'hi' }], response_format: { type: 'json_object' } }],
  ['a JSON object is requested in the prompt', { structured_output: { method: 'prompt' } }, { messages: [{ role: 'system', content: [{ type: 'text', text: 'x' }] }, { role: 'user', content: 'hi' }], response_format: { type: 'json_object' } }, { messages: [{ role: 'system', content: [{ type: 'text', text: 'x' }, { type: 'text', text: 'Reply with one JSON object and nothing else: no explanation, no code fence.' }] }, { role: 'user', content: 'hi' }] }],
  ['JSON mode stays where it is supported', { structured_output: { method: 'json_object' } }, { messages: [{ role: 'user', content: 'hi' }], response_format: { type: 'json_object' } }, { messages: [{ role: 'user', content: 'hi' }], response_format: { type: 'json_object' } }],
  ['usage is requested', {}, { stream: true }, { stream: true, stream_options: { include_usage: true } }],
  ['usage is requested along with other options', {}, { stream: true, stream_options: { x: 1, include_usage: false } }, { stream: true, stream_options: { x: 1, include_usage: true } }],
  ['usage is not requested where that is refused', { usage: { stream_options: false } }, { stream: true, stream_options: { include_usage: true } }, { stream: true }],
]

const ADAPTIVE: DialectFacts = { reasoning: { parameter: 'adaptive', levels: ['low', 'medium', 'high'] } }
const BUDGET: DialectFacts = { reasoning: { parameter: 'budget' } }
const use = { type: 'tool_use', id: 't', name: 'f', input: {} }

// biome-ignore format: one case per line: dialect, before, after
const MESSAGES_EDITS: [string, DialectFacts, object, object][] = [
  ['a body that fits stays', ADAPTIVE, { max_tokens: 9, thinking: { type: 'adaptive', display: 'updates' }, output_config: { effort: 'low', x: 1 }, top_p: 1, y: 1 }, { max_tokens: 9, thinking: { type: 'adaptive', display: 'updates' }, output_config: { effort: 'low', x: 1 }, top_p: 1, y: 1 }],
  ['unsigned thinking is removed, signed thinking stays', ADAPTIVE, { max_tokens: 9, messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'a', signature: '' }, { type: 'thinking', thinking: '', signature: 's' }, use] }, { role: 'assistant', content: [{ type: 'thinking', thinking: 'b' }] }] }, { max_tokens: 9, messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 's' }, use] }, { role: 'assistant', content: [] }] }],
  ['the cap is clamped', {}, { max_tokens: 128_000 }, { max_tokens: 1000 }],
  ['a cap of 0 warms the cache', {}, { max_tokens: 0 }, { max_tokens: 0 }],
  ['sampling parameters are removed where none are accepted', { sampling: { parameters: null } }, { temperature: 0, top_p: 1, top_k: 2 }, {}],
  ['of two parameters, the temperature stays', { sampling: { parameters: 'temperature_xor_top_p', top_k: true } }, { temperature: 0, top_p: 1, top_k: 2 }, { temperature: 0, top_k: 2 }],
  ['thinking is removed where it is not supported', {}, { thinking: { type: 'adaptive' }, output_config: { effort: 'low', format: {} } }, { output_config: { format: {} } }],
  ['an effort alone is removed with its object', {}, { output_config: { effort: 'low' } }, {}],
  ['an effort becomes the nearest level', ADAPTIVE, { output_config: { effort: 'max' } }, { output_config: { effort: 'high' } }],
  ['a future effort level is left for the upstream to judge', ADAPTIVE, { output_config: { effort: 'ultra' } }, { output_config: { effort: 'ultra' } }],
  ['adaptive thinking becomes a budget', { reasoning: { ...BUDGET.reasoning, budgets: { high: 1024 } } }, { max_tokens: 1000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }, { max_tokens: 1000 }],
  ['a budget becomes adaptive', { reasoning: { ...ADAPTIVE.reasoning, budget_accepted: false, display: 'on_request' } }, { thinking: { type: 'enabled', budget_tokens: 5000 } }, { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } }],
  ['a budget becomes adaptive and keeps the display setting', { reasoning: { ...ADAPTIVE.reasoning, budget_accepted: false, display: 'on_request' } }, { thinking: { type: 'enabled', budget_tokens: 5000, display: 'omitted' }, output_config: { effort: 'low' } }, { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } }],
  ['a model that cannot stop thinking gets the lowest effort', { reasoning: { ...ADAPTIVE.reasoning, disable: 'refused' } }, { thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, { output_config: { effort: 'low' } }],
  ['thinking can be off with an effort up to high', { reasoning: { ...ADAPTIVE.reasoning, levels: ['low', 'high', 'max'], disable: 'up_to_high' } }, { thinking: { type: 'disabled' }, output_config: { effort: 'max' } }, { thinking: { type: 'disabled' }, output_config: { effort: 'high' } }],
  ['future kinds of thinking pass', ADAPTIVE, { thinking: { type: 'between_tools' } }, { thinking: { type: 'between_tools' } }],
  ['a tool cannot be forced', { tools: { forced: 'refused' } }, { tool_choice: { type: 'any', disable_parallel_tool_use: true } }, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
  ['a forced tool switches thinking off', { ...ADAPTIVE, tools: { forced: 'not_with_thinking' } }, { tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } }, { tool_choice: { type: 'any' }, thinking: { type: 'disabled' } }],
  ['a forced tool without thinking stays', { ...ADAPTIVE, tools: { forced: 'not_with_thinking' } }, { tool_choice: { type: 'tool', name: 'f' } }, { tool_choice: { type: 'tool', name: 'f' } }],
  ['the parallel flag is removed', { tools: { parallel_flag: false } }, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, { tool_choice: { type: 'auto' } }],
  ['strict is removed', { tools: { strict: 'drop' } }, { tools: [{ name: 'f', strict: true }] }, { tools: [{ name: 'f' }] }],
  ['system messages between turns move to the front', { turns: { mid_system: 'hoist' } }, { system: 's', messages: [{ role: 'user', content: 'a' }, { role: 'system', content: 'b', output_config: {} }] }, { system: 's\nb', messages: [{ role: 'user', content: 'a' }] }],
  ['system messages between turns become user turns', { turns: { mid_system: 'user_text' } }, { messages: [{ role: 'user', content: 'a' }, { role: 'system', content: 'b', output_config: {} }] }, { messages: [{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }] }],
  ['system messages with nothing but settings are removed', { turns: { mid_system: 'user_text' } }, { messages: [{ role: 'user', content: 'a' }, { role: 'system', content: [], output_config: {} }] }, { messages: [{ role: 'user', content: 'a' }] }],
  ['the end user is removed', { end_user: { field: null } }, { metadata: { user_id: 'u' } }, {}],
  ['an email address of the end user is hashed', {}, { metadata: { user_id: 'user an@example.com' } }, { metadata: { user_id: hash('user an@example.com') } }],
  ['a phone number of the end user is hashed', {}, { metadata: { user_id: '+84 28 3822 1234' } }, { metadata: { user_id: hash('+84 28 3822 1234') } }],
]

test.each(CHAT_EDITS)('chat: %s', (_, facts, before, after) => {
  expect(edited('chat_completions', before, facts)).toEqual(after)
})

test.each(MESSAGES_EDITS)('messages: %s', (_, facts, before, after) => {
  expect(edited('messages', before, { ...facts, turns: { threads: true, ...facts.turns } })).toEqual(after)
})

describe('thinking by budget', () => {
  const body = { max_tokens: 50_000, thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }
  const dialect = dialectOf(BUDGET)
  const planned = (messages: object[]) =>
    planSameFormat({ format: 'messages', body: { ...body, messages } as JsonObject, entry: ROOMY, target: { dialect } })
      .body

  test('replaces adaptive thinking', () => {
    const messages = [{ role: 'user', content: 'hi' }]
    const thinking = { type: 'enabled', budget_tokens: 8192 }
    expect(planned(messages)).toEqual({ max_tokens: 50_000, messages, thinking })
  })

  test('is left out after a tool call without signed thinking', () => {
    const history = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [use] },
    ]
    expect(planned(history)).not.toHaveProperty('thinking')
    const signed = [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'h', signature: 's' }, use] }]
    expect(planned(signed)).toHaveProperty('thinking.budget_tokens')
  })
})

describe('besides the body', () => {
  test('the usage chunk is hidden only from clients that did not request it', () => {
    const hides = (body: object, facts: DialectFacts = {}) =>
      plan('chat_completions', body, facts).reply.hidesUsageChunk
    expect(hides({ stream: true })).toBe(true)
    expect(hides({ stream: true, stream_options: { include_usage: true } })).toBe(false)
    expect(hides({})).toBe(false)
    expect(hides({ stream: true }, { usage: { stream_options: false } })).toBe(true)
  })

  test('an effort adds the beta flag that it requires', () => {
    const facts = { ...ADAPTIVE, betas: { effort: 'effort-flag' } }
    expect(plan('messages', { output_config: { effort: 'low' } }, facts).betas).toEqual(['effort-flag'])
    expect(plan('messages', { output_config: { format: {} } }, facts).betas).toEqual([])
    expect(plan('messages', { output_config: { effort: 'low' } }, { betas: { effort: 'effort-flag' } }).betas).toEqual(
      [],
    )
  })

  test('the client’s beta flags pass according to the list', () => {
    const flags = (facts: DialectFacts) =>
      planSameFormat({
        format: 'messages',
        body: {},
        entry: ROOMY,
        target: { dialect: dialectOf(facts) },
        betas: ['a', 'b', 'a'],
      }).betas
    expect(flags({})).toEqual(['a', 'b'])
    expect(flags({ betas: { unlisted: 'drop', flags: { b: {}, c: {} } } })).toEqual(['b'])
    expect(flags({ betas: { flags: { a: { name: null }, b: { name: 'c' } } } })).toEqual(['c'])
  })
})

test('only fields of flags that are not sent are removed from the body and from edits', () => {
  const facts: DialectFacts = {
    ...ADAPTIVE,
    betas: {
      flags: { a: { name: null, fields: ['/x/*/y', '/thinking/display', '/output_config/z'] }, b: { fields: ['/w'] } },
    },
  }
  const body = {
    x: [{ y: 1, k: 2 }, {}],
    w: { 'a/b': 1 },
    thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
    output_config: { effort: 'minimal', z: 1 },
  }
  const target = { dialect: dialectOf({ ...facts, reasoning: { ...facts.reasoning, budget_accepted: false } }) }
  const plan = (betas: readonly string[]) => {
    return planSameFormat({ format: 'messages', body: body as JsonObject, entry: ROOMY, target, betas }).body
  }
  const left = { x: [{ k: 2 }, {}], thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }
  expect(plan(['a'])).toEqual(left)
  expect(plan(['b'])).toEqual({ ...left, w: { 'a/b': 1 } })
})

describe('a responses request keeps its bytes', () => {
  const custom = { type: 'custom', name: 'patch' }
  const native: DialectFacts = { tools: { custom: 'native' } }
  const schema = { text: { format: { type: 'json_schema', name: 'n', schema: {} } } }
  const prompt: DialectFacts = { structured_output: { method: 'prompt' } }

  // biome-ignore format: one case per line
  test.each<[string, DialectFacts, object, boolean]>([
    ['functions', {}, { tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }, { type: 'tool_search' }] }, true],
    ['free-form tools, which the host has', native, { tools: [custom] }, true],
    ['free-form tools, which the host lacks', {}, { tools: [custom] }, false],
    ['namespaces', {}, { tools: [{ type: 'namespace', name: 'n', tools: [] }] }, false],
    ['a tool search by the client', {}, { tools: [{ type: 'tool_search', execution: 'client' }] }, false],
    ['tools in items', {}, { input: [{ type: 'additional_tools', tools: [] }] }, false],
    ['calls of free-form tools', {}, { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'n', input: '' }] }, false],
    ['a schema', {}, schema, true],
    ['a schema described in the prompt', prompt, schema, false],
    ['a schema described in addition to JSON mode', { structured_output: { method: 'json_object' } }, schema, true],
    ['no schema', prompt, { text: { format: { type: 'text' } } }, true],
  ])('or is converted: %s', (_what, facts, body, expected) => {
    expect(passesThrough('responses', body as JsonObject, dialectOf(facts))).toBe(expected)
  })
})

test('a chat request with a tool name that is too long may allow tools that it does not have', () => {
  const long = 'n'.repeat(70)
  const named = (name: string) => ({ type: 'function', function: { name } })
  const allowed = (...names: string[]) => ({ mode: 'auto', tools: names.map(named) })
  const tool_choice = { type: 'allowed_tools', allowed_tools: allowed(long, 'gone') }
  const body = { messages: [{ role: 'user', content: 'hi' }], tools: [named(long)], tool_choice }
  const sent = edited('chat_completions', body, {})
  const short = (sent.tools as { function: { name: string } }[])[0]!.function.name
  expect(short.length).toBeLessThan(65)
  expect(sent.tool_choice).toEqual({ type: 'allowed_tools', allowed_tools: allowed(short, 'gone') })
})
