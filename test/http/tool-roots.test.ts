/**
 * Tools whose schema is a choice or a reference at the root, as MCP servers publish them. Claude and GPT refuse every request with
 * such a tool, so in converted requests the root becomes an object with the properties of all variants.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toolSchema } from '../../src/dialect/schemas.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const A = {
  type: 'object',
  properties: { kind: { const: 'a' }, x: { $ref: '#/definitions/X' } },
  required: ['kind', 'x'],
  additionalProperties: false,
}
const B = { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'], additionalProperties: false }
const EITHER = {
  type: 'object',
  properties: { id: { type: 'string' }, paths: { type: 'array' }, scopes: { type: 'array' } },
  required: ['id'],
}
const X = { type: 'string' }

/** Each with the schema that is sent. */
const ROOTS: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
  'one of several variants': [
    { $schema: 's', oneOf: [A, B], definitions: { X } },
    {
      $schema: 's',
      type: 'object',
      properties: { kind: { anyOf: [A.properties.kind, B.properties.kind] }, x: A.properties.x },
      required: ['kind'],
      definitions: { X },
    },
  ],
  'an object that needs one of two properties': [
    { ...EITHER, anyOf: [{ required: ['paths'] }, { required: ['scopes'] }], not: { required: ['paths', 'scopes'] } },
    EITHER,
  ],
  'several schemas at once': [
    { type: 'object', allOf: [B, { properties: { x: X } }] },
    { ...B, properties: { ...B.properties, x: X } },
  ],
  'a reference': [
    { $ref: '#/$defs/B', $defs: { B } },
    { ...B, $defs: { B } },
  ],
}

let running: TestGateway
let apiKey: string
beforeAll(async () => {
  running = await startTestGateway()
  apiKey = (await running.account(1_000_000n * 1_000_000n)).apiKey
})
afterAll(() => running.close())

const PATHS = {
  'chat/completions': (parameters: JsonObject) => ({
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
  }),
  messages: (input_schema: JsonObject) => ({
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'look', input_schema }],
  }),
  responses: (parameters: JsonObject) => ({
    input: 'hi',
    tools: [{ type: 'function', name: 'look', parameters, strict: false }],
  }),
}

describe.each(Object.entries(ROOTS))('a tool that takes %s', (_name, [given, sent]) => {
  test('becomes an object', () => {
    expect(toolSchema(given, 'pass')).toEqual(sent)
  })

  test.each([
    ['chat/completions', 'claude-opus-5'],
    ['chat/completions', 'svc/claude-opus-5'],
    ['responses', 'claude-opus-5'],
    ['responses', 'gemini-3.5-flash'],
    ['messages', 'gpt-5.5'],
    ['messages', 'deepseek-v4-flash'],
  ] as const)('is accepted on %s by %s', async (path, model) => {
    const response = await fetch(`${running.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify({ model, ...PATHS[path](given) }),
    })
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  })
})
