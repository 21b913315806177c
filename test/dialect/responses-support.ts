/** For tests of how Responses requests are adapted to a model's dialect: two dialects, and builders of items. */

import { expect } from 'vitest'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import { makeEnvelopeSigner } from '../../src/conversation/envelope.ts'
import { adaptResponses } from '../../src/dialect/responses/adapt.ts'
import type { DialectFacts, FormatPath } from '../../src/dialect/types.ts'
import { readReasoning, readStructure } from '../../src/formats/responses/read-request.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { dialectOf } from '../translate/support.ts'

export const signer = makeEnvelopeSigner(parseSecretSet('KEY_PEPPERS', generateSecretSet()), '7')

/** The dialect of GPT models in the Responses format. */
export const OPENAI: Words = {
  turns: { system_role: 'instructions' },
  tools: { result_images: 'native', custom: 'native' },
  reasoning: { parameter: 'reasoning_effort', levels: ['none', 'low', 'medium', 'high'], sealed: true },
}
export const DEEPSEEK: Words = {
  reasoning: {
    parameter: 'thinking_type',
    levels: ['low', 'high', 'max'],
    by_default: true,
    field: 'item_content',
    echo: 'always',
  },
  turns: { system_role: 'developer' },
}

export interface More extends Partial<DialectFacts> {
  readonly shown?: boolean
}

export function adapt(body: object, words: Words, formatPath: FormatPath, { shown, ...more }: More = {}) {
  const given = body as JsonObject
  const reasoning = readReasoning(given)
  const facts: DialectFacts = {
    dialect: dialectOf(words),
    formatPath,
    hasVision: true,
    outputTokensMax: 1000,
    contextTokens: null,
    inputTokensEstimate: 0,
    outputTokensAfforded: null,
    reasoning: shown === undefined ? reasoning : { ...reasoning, shown },
    structure: readStructure(given),
    betas: [],
    stopField: 'stop',
    place: index => `input[${index}]`,
    openEnvelope: signer.open,
    ...more,
  }
  const before = JSON.stringify(given)
  const adapted = adaptResponses(given, facts)
  // Adapting a request must not modify it.
  expect(JSON.stringify(given)).toBe(before)
  return adapted
}

export const same = (body: object, words: Words = OPENAI, more: More = {}) => adapt(body, words, 'same', more).body
export const converted = (body: object, words: Words = OPENAI, more: More = {}) =>
  adapt(body, words, 'converted', more).body

export const user = (content: unknown) => ({ type: 'message', role: 'user', content })
export const assistant = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
})
export const system = (text: string, role = 'developer') => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
})
export const call = (call_id: string, name = 'f') => ({ type: 'function_call', call_id, name, arguments: '{}' })
export const output = (call_id: string, value: unknown = 'ok') => ({
  type: 'function_call_output',
  call_id,
  output: value,
})
export const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
export const file = (data: string) => ({ type: 'input_file', filename: 'a.x', file_data: data })
export const pdf = file('data:application/pdf;base64,JVBE')
export const fn = (name: string, rest: object = {}) => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: {} },
  ...rest,
})
export const tools = [fn('f', { strict: false })]
export const text = (value: string) => ({ type: 'input_text', text: value })
