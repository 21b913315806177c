/** How requests converted for a responses upstream are adapted to the model's dialect. */

import { describe, expect, test } from 'vitest'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import type { ReasoningRequest, StructureRequest } from '../../src/conversation/request.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { adapt, assistant, converted, fn, type More, OPENAI, system, user } from './responses-support.ts'

describe('for converted calls', () => {
  const wants = (reasoning: Partial<ReasoningRequest>): More => ({
    reasoning: { wanted: null, effort: null, budgetTokens: null, shown: null, ...reasoning },
  })

  // biome-ignore format: one case per line
  test.each<[string, Words, Partial<ReasoningRequest>, object]>([
    ['an effort', OPENAI, { wanted: true, effort: 'xhigh' }, { reasoning: { effort: 'high' } }],
    ['an effort with visible reasoning', OPENAI, { wanted: true, effort: 'low', shown: true }, { reasoning: { effort: 'low', summary: 'auto' } }],
    ['a budget', OPENAI, { wanted: true, budgetTokens: 5000, shown: true }, { reasoning: { effort: 'medium', summary: 'auto' } }],
    ['reasoning without an effort', OPENAI, { wanted: true, shown: true }, { reasoning: { summary: 'auto' } }],
    ['nothing requested', OPENAI, {}, {}],
    ['a summary without an effort, for a model that does not reason by default', OPENAI, { shown: true }, {}],
    ['a summary for a model that does', { reasoning: { ...OPENAI.reasoning, by_default: true } }, { shown: true }, { reasoning: { summary: 'auto' } }],
    ['none', OPENAI, { wanted: false, shown: true }, { reasoning: { effort: 'none' } }],
    ['an effort for a model that accepts none', {}, { wanted: true, effort: 'low', shown: true }, {}],
  ])('reasoning: %s', (_what, words, asked, expected) => {
    expect(converted({}, words, wants(asked))).toEqual(expected)
  })

  const schema: StructureRequest = {
    kind: 'schema',
    description: null,
    name: 'my reply',
    schema: { type: 'object', properties: {}, additionalProperties: false },
    strict: true,
  }
  const loose: StructureRequest = {
    kind: 'schema',
    name: 'n',
    description: null,
    schema: { type: 'object' },
    strict: true,
  }

  // biome-ignore format: one case per line
  test.each<[string, Words, StructureRequest, object]>([
    ['a schema', OPENAI, schema, { text: { verbosity: 'low', format: { type: 'json_schema', name: 'my_reply', schema: schema.schema, strict: true } } }],
    ['a schema that cannot be strict', OPENAI, loose, { text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: loose.schema, strict: false } } }],
    ['a schema in the prompt', { structured_output: { method: 'prompt' } }, schema, { text: { verbosity: 'low' }, input: [system(expect.stringMatching(/valid against this schema/) as never, 'system'), user('hi')] }],
    ['a tool for a schema', { structured_output: { method: 'tool' } }, schema, { tools: [{ type: 'function', name: 'json_reply', parameters: schema.schema, strict: false }], tool_choice: { type: 'function', name: 'json_reply' } }],
  ])('a JSON reply: %s', (_what, words, structure, expected) => {
    const { body, reply } = adapt({ input: [user('hi')], text: { verbosity: 'low' } }, words, 'converted', { structure })
    expect(body).toEqual({ input: [user('hi')], text: { verbosity: 'low' }, ...expected })
    expect(reply.replyTool).toBe(words.structured_output?.method === 'tool' ? 'json_reply' : null)
    expect(reply.unwrapsFence).toBe(words.structured_output?.method === 'prompt')
  })

  test('a JSON object is also requested in the prompt', () => {
    const structure = { kind: 'object' } as const
    expect(converted({ input: [user('hi')] }, OPENAI, { structure })).toEqual({
      input: [user('hi')],
      text: { format: { type: 'json_object' } },
      instructions: 'Reply with one JSON object and nothing else: no explanation, no code fence.',
    })
  })

  test('only schemas that qualify are strict, and every schema is an object schema', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false }
    const given = [
      fn('a', { strict: true, parameters: closed }),
      fn('b', { strict: true }),
      fn('c', { strict: false, parameters: {} }),
    ]
    expect(converted({ tools: given })).toEqual({
      tools: [fn('a', { strict: true, parameters: closed }), fn('b', { strict: false }), fn('c', { strict: false })],
    })
  })

  test('sealed reasoning is only sent where it can be opened', () => {
    const sealed: JsonValue = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
    const plain: JsonValue = { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }] }
    const body = { input: [user('hi'), sealed, plain, assistant('x')] }
    expect(converted(body)).toEqual({ input: [user('hi'), sealed, assistant('x')] })
    expect(converted(body, {})).toEqual({ input: [user('hi'), assistant('x')] })
  })
})
