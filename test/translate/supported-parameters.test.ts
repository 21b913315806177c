/** `GET /v1/models` lists exactly the parameters that have an effect on the model. */

import { expect, test } from 'vitest'
import { catalogue } from '../../src/catalogue/current.ts'
import { modelItem } from '../../src/catalogue/model-item.ts'
import { makeEnvelopeSigner } from '../../src/conversation/envelope.ts'
import { GatewayError } from '../../src/errors.ts'
import type { ModelEntry } from '../../src/generated/types.ts'
import { prepare } from '../../src/pipeline/prepare.ts'
import { readChatBody } from '../../src/pipeline/receive.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const TOOLS = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const JSON_SCHEMA = { type: 'json_schema', json_schema: { name: 'r', schema: SCHEMA, strict: true } }

type Pair = readonly [given: object, without: object]

/**
 * Two pairs of requests with and without the parameter: by default, and with reasoning off, because some models accept the
 * parameter only then.
 */
const alsoUnreasoned = (given: object): readonly Pair[] =>
  [{}, { reasoning_effort: 'none' }].map(extra => [{ ...extra, ...given }, extra] as const)
const efforts = (write: (effort: string) => object): readonly Pair[] =>
  ['none', 'low', 'high'].map(effort => [write(effort), {}] as const)

/** For each parameter: pairs of requests with and without it. At least one pair must differ for the model. */
const REQUESTS: Readonly<Record<string, readonly Pair[]>> = {
  max_tokens: [[{ max_tokens: 77 }, {}]],
  stream: [[{ stream: true }, {}]],
  tools: [[{ tools: TOOLS }, {}]],
  tool_choice: [[{ tools: TOOLS, tool_choice: 'none' }, { tools: TOOLS }]],
  parallel_tool_calls: [[{ tools: TOOLS, parallel_tool_calls: false }, { tools: TOOLS }]],
  reasoning: efforts(effort => ({ reasoning: { effort } })),
  reasoning_effort: efforts(effort => ({ reasoning_effort: effort })),
  stop: [[{ stop: ['END'] }, {}]],
  temperature: alsoUnreasoned({ temperature: 0.25 }),
  top_p: alsoUnreasoned({ top_p: 0.25 }),
  top_k: alsoUnreasoned({ top_k: 7 }),
  response_format: [[{ response_format: { type: 'json_object' } }, {}]],
  structured_outputs: [[{ response_format: JSON_SCHEMA }, {}]],
}
/** Parameters that change the upstream request even if the model does not list them, because the gateway emulates them. */
const EMULATED: ReadonlySet<string> = new Set(['response_format', 'structured_outputs'])

/** The body sent to an entry's preferred upstream; null if the request is refused. */
async function upstreamBody(entry: ModelEntry, extra: object): Promise<string | null> {
  const target = entry.upstreams[0]
  if (target === undefined) throw new Error(`${entry.id} has no upstream`)
  const raw = Buffer.from(JSON.stringify({ model: entry.id, messages: MESSAGES, ...extra }))
  const body = await readChatBody(raw, { bodyValuesMax: 10_000 }, 'chat_completions')
  try {
    const prepared = await prepare({
      envelopeSigner: makeEnvelopeSigner({ currentId: 1, secrets: new Map([[1, Buffer.alloc(32)]]) }, '1'),
      body,
      entry,
      clientModel: entry.id,
      target,
      format: 'chat_completions',
      betas: [],
      inputTokensEstimate: 10,
      outputTokensAfforded: null,
      countInputTokens: () => 10,
      reportedTokensMax: 1_000_000,
      limits: { replyValuesMax: 10_000 },
    })
    return prepared.body.toString()
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

async function reaches(entry: ModelEntry, pairs: readonly Pair[]): Promise<boolean> {
  for (const [given, without] of pairs) {
    const body = await upstreamBody(entry, given)
    if (body !== null && body !== (await upstreamBody(entry, without))) return true
  }
  return false
}

test('every parameter that an entry lists reaches its model, and others are not listed', async () => {
  const entries = catalogue.items.map(({ entry }) => entry).filter(entry => entry.kind === 'chat')
  expect(entries.length).toBeGreaterThan(80)
  const wrong: string[] = []
  for (const entry of entries) {
    const listed = modelItem(entry, { isDeprecated: false, isRetired: false }).supported_parameters as string[]
    expect(listed.filter(parameter => !(parameter in REQUESTS))).toEqual([])
    for (const [parameter, pairs] of Object.entries(REQUESTS)) {
      const isListed = listed.includes(parameter)
      const isTaken = await reaches(entry, pairs)
      if (isListed && !isTaken) wrong.push(`${entry.id}: ${parameter} is listed`)
      if (!isListed && isTaken && !EMULATED.has(parameter)) wrong.push(`${entry.id}: ${parameter} is not listed`)
    }
  }
  expect(wrong).toEqual([])
})
