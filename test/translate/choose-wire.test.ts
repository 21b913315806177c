/** Chooses the upstream wire format for calls, with the catalogue's real tables. */

import { expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { UpstreamTarget, WireName } from '../../src/generated/types.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { chooseWire } from '../../src/translate/choose-wire.ts'
import { asksOf } from '../../src/translate/wire-asks.ts'

function targetOf(id: string): UpstreamTarget {
  return TABLES.entries.find(entry => entry.id === id)?.upstreams[0] as UpstreamTarget
}

function chosen(id: string, format: WireName, body: JsonObject) {
  const choice = chooseWire(targetOf(id), format, asksOf(format, body))
  return [choice.wire, ...choice.loses]
}

const CHAT_TOOL = { type: 'function', function: { name: 'look', parameters: {} } }
const MESSAGES_TOOL = { name: 'look', input_schema: { type: 'object' } }

test.each<[string, string, WireName, JsonObject, readonly string[]]>([
  ['a chat client keeps its own format', 'gpt-5.5', 'chat_completions', {}, ['chat_completions']],
  [
    'an effort alone does not change that',
    'gpt-5.5',
    'chat_completions',
    { reasoning_effort: 'high' },
    ['chat_completions'],
  ],
  ['nor do tools alone', 'gpt-5.5', 'chat_completions', { tools: [CHAT_TOOL] }, ['chat_completions']],
  [
    'tools with an effort go to a wire that supports both',
    'gpt-5.5',
    'chat_completions',
    { tools: [CHAT_TOOL], reasoning_effort: 'high' },
    ['responses'],
  ],
  [
    'an effort of none loses nothing',
    'gpt-5.5',
    'chat_completions',
    { tools: [CHAT_TOOL], reasoning_effort: 'none' },
    ['chat_completions'],
  ],
  [
    'a model that reasons by default also reasons with tools',
    'gpt-6-sol',
    'chat_completions',
    { tools: [CHAT_TOOL] },
    ['responses'],
  ],
  [
    'where both are supported nothing changes',
    'gpt-5.1',
    'chat_completions',
    { tools: [CHAT_TOOL], reasoning_effort: 'high' },
    ['chat_completions'],
  ],
  [
    'if no wire carries everything, the client keeps its own format',
    'gpt-5.5',
    'chat_completions',
    { tools: [CHAT_TOOL], reasoning_effort: 'high', seed: 7, stop: ['x'] },
    ['chat_completions', 'effort_beside_tools'],
  ],
  [
    'a messages client gets the first wire that carries its whole call',
    'gpt-5.5',
    'messages',
    {},
    ['chat_completions'],
  ],
  [
    'with thinking and tools too',
    'gpt-5.5',
    'messages',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' }, tools: [MESSAGES_TOOL] },
    ['responses'],
  ],
  [
    'stop sequences go to the wire that supports them',
    'gpt-5.5',
    'messages',
    { stop_sequences: ['x'], tools: [MESSAGES_TOOL] },
    ['chat_completions'],
  ],
  [
    'a refusal outweighs everything that would be left out',
    'gpt-5.5',
    'messages',
    { stop_sequences: ['x'], thinking: { type: 'adaptive' }, tools: [MESSAGES_TOOL] },
    ['chat_completions', 'sealed_reasoning', 'effort_beside_tools'],
  ],
  [
    'a document by URL goes to the wire whose provider fetches it',
    'gpt-5.5',
    'messages',
    { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://a/b.pdf' } }] }] },
    ['responses'],
  ],
  [
    'a responses client keeps its own format',
    'gpt-5.5',
    'responses',
    { tools: [{ type: 'function', name: 'look' }], reasoning: { effort: 'high' } },
    ['responses'],
  ],
  ['a model of one format uses it', 'claude-opus-5', 'responses', { reasoning: { effort: 'high' } }, ['messages']],
  ['the same for chat', 'glm-5.2', 'messages', {}, ['chat_completions']],
  ['a provider that stores nothing is not asked to store', 'deepseek-v4-flash', 'responses', {}, ['chat_completions']],
  ['and is used if nothing needs to be stored', 'deepseek-v4-flash', 'responses', { store: false }, ['responses']],
  [
    'a provider that stores responses is used',
    'gpt-5.5',
    'responses',
    { previous_response_id: 'resp_1' },
    ['responses'],
  ],
])('%s', (_title, id, format, body, wire) => {
  expect(chosen(id, format, body)).toEqual(wire)
})

test('every chat model has a wire for every client, and the dialect that belongs to it', () => {
  for (const entry of TABLES.entries.filter(({ kind }) => kind === 'chat')) {
    for (const target of entry.upstreams) {
      for (const format of ['messages', 'chat_completions', 'responses'] as const) {
        const choice = chooseWire(target, format, asksOf(format, {}))
        const listed = target.wires?.find(({ wire }) => wire === choice.wire)
        expect(choice.dialect).toBe(listed?.dialect ?? target.dialect)
      }
    }
  }
})

test.each<[WireName, JsonObject, readonly string[]]>([
  ['chat_completions', { stop: 'x' }, ['stop_sequences']],
  ['chat_completions', { stop: [], n: 1, logprobs: false, frequency_penalty: 0, logit_bias: {}, seed: null }, []],
  ['chat_completions', { n: 2 }, ['choices']],
  ['chat_completions', { top_k: 5 }, ['top_k']],
  ['chat_completions', { presence_penalty: 0.5 }, ['penalties']],
  ['chat_completions', { logit_bias: { '5': 1 } }, ['logit_bias']],
  ['chat_completions', { logprobs: true }, ['logprobs']],
  ['chat_completions', { seed: 0 }, ['seed']],
  [
    'chat_completions',
    { messages: [{ role: 'assistant', reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }] },
    ['sealed_reasoning'],
  ],
  ['messages', { stop_sequences: [] }, []],
  ['messages', { thinking: { type: 'disabled' } }, []],
  ['messages', { thinking: { type: 'enabled', budget_tokens: 2048 }, top_k: 4 }, ['top_k', 'sealed_reasoning']],
  [
    'messages',
    { messages: [{ role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] }] },
    ['sealed_reasoning'],
  ],
  [
    'messages',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'url' } },
            { type: 'text', text: 'a' },
          ],
        },
      ],
    },
    ['document_urls'],
  ],
  [
    'messages',
    {
      messages: [
        { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'document', source: { type: 'url' } }] }] },
      ],
    },
    ['document_urls'],
  ],
  ['messages', { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'base64' } }] }] }, []],
  [
    'responses',
    { store: false, input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a' }] }] },
    ['document_urls'],
  ],
  [
    'responses',
    {
      store: false,
      input: [{ type: 'function_call_output', output: [{ type: 'input_file', file_url: 'https://a' }] }],
    },
    ['document_urls'],
  ],
  [
    'chat_completions',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'https://a' } }] }] },
    ['document_urls'],
  ],
  ['responses', { include: ['reasoning.encrypted_content'], store: false }, ['sealed_reasoning']],
  ['responses', { input: [{ type: 'reasoning', encrypted_content: 'x' }], store: false }, ['sealed_reasoning']],
  ['responses', {}, ['stored_items']],
  ['responses', { store: true }, ['stored_items']],
  ['responses', { store: false, input: [{ role: 'user', content: 'a' }], previous_response_id: null }, []],
  ['responses', { store: false, previous_response_id: 'resp_1' }, ['stored_items']],
  ['responses', { store: false, input: [{ type: 'item_reference', id: 'msg_1' }] }, ['stored_items']],
  ['responses', { store: false, input: [{ id: 'msg_1' }] }, ['stored_items']],
])('%s %j needs %j', (format, body, limits) => {
  expect([...asksOf(format, body).limits]).toEqual(limits)
})
