/**
 * How many tokens a call is billed for when the provider runs the model several times, reports a usage of zero, or has not
 * reported the final usage when the client leaves.
 */

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { chunkFrame, FRAME_STREAM } from '../../src/sandbox/bedrock/frames.ts'
import { CREDIT, messagesText, type Path, question, streamOf, useConversionWorld } from '../support/conversion.ts'
import { startTestGateway } from '../support/gateway.ts'
import { type Answer, end, hang, head, json, sse, startScriptedUpstream, write } from '../support/scripted-upstream.ts'

const world = useConversionWorld()

const CLAUDE = 'claude-opus-5'
const ROUTES: readonly (readonly [string, Path])[] = [
  ['messages', '/v1/messages'],
  ['chat', '/v1/chat/completions'],
]

interface Reply {
  readonly content: readonly JsonObject[]
  readonly stopReason: string
  readonly usage: JsonObject
  /** Usage reported in `message_start`. Defaults to the field `usage`, with 0 output tokens and without `iterations`. */
  readonly startUsage?: JsonObject
}

function wholeMessage({ content, stopReason, usage }: Reply): object {
  const head = { id: 'msg_01', type: 'message', role: 'assistant', model: 'upstream-name' }
  return { ...head, content, stop_reason: stopReason, stop_sequence: null, usage }
}

function messageEvents({ content, stopReason, usage, startUsage }: Reply): { type: string }[] {
  const start = startUsage ?? { ...usage, iterations: null, output_tokens: 0 }
  const message = { ...wholeMessage({ content: [], stopReason, usage: start }), stop_reason: null }
  return [
    { type: 'message_start', message } as { type: string },
    ...content.flatMap((block, index) => blockEvents(block, index)),
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage } as { type: string },
    { type: 'message_stop' },
  ]
}

function blockEvents(block: JsonObject, index: number): { type: string }[] {
  const delta = (value: JsonObject) => ({ type: 'content_block_delta', index, delta: value })
  const fill: Readonly<Record<string, () => [JsonObject, JsonObject]>> = {
    text: () => [{ ...block, text: '' }, delta({ type: 'text_delta', text: block.text })],
    tool_use: () => [
      { ...block, input: {} },
      delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }),
    ],
    compaction: () => [{ ...block, content: '' }, delta({ type: 'compaction_delta', content: block.content })],
  }
  const [empty, filled] = fill[String(block.type)]?.() ?? [block, null]
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...(filled === null ? [] : [filled]),
    { type: 'content_block_stop', index },
  ] as { type: string }[]
}

const pass = (type: string, input: number, output: number, rest: JsonObject = {}): JsonObject => ({
  type,
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: null,
  ...rest,
})
const SAID: readonly JsonObject[] = [{ type: 'text', text: 'Hà Nội' }]
const cached = { cache_read_input_tokens: 5_000, cache_creation_input_tokens: 300 }

/** Replies as the vendor documents them, and the tokens billed for them: input, cached input, and output. */
const PASSES: readonly (readonly [string, Reply, readonly [number, number, number]])[] = [
  [
    'a compaction before the answer',
    {
      content: [{ type: 'compaction', content: 'Summary: they asked for a capital.' }, ...SAID],
      stopReason: 'end_turn',
      usage: {
        input_tokens: 23_000,
        output_tokens: 1_000,
        iterations: [pass('compaction', 180_000, 3_500), pass('message', 23_000, 1_000)],
      },
    },
    [203_000, 0, 4_500],
  ],
  [
    'a compaction that the client inspects before continuing',
    {
      content: [{ type: 'compaction', content: 'Summary: they asked for a capital.' }],
      stopReason: 'compaction',
      usage: { input_tokens: 0, output_tokens: 0, iterations: [pass('compaction', 180_000, 3_500)] },
    },
    [180_000, 0, 3_500],
  ],
  [
    'the advice of a second model between two passes, each with its cache',
    {
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'advisor', input: {} },
        { type: 'advisor_tool_result', tool_use_id: 'srvtoolu_1', content: { type: 'advisor_result', text: 'Yes.' } },
        ...SAID,
      ],
      stopReason: 'end_turn',
      usage: {
        input_tokens: 412,
        output_tokens: 531,
        ...cached,
        iterations: [
          pass('message', 412, 89, { ...cached, model: 'claude-upstream-name' }),
          pass('advisor_message', 823, 1_612, { model: 'claude-advisor-name' }),
          pass('message', 1_348, 442, { ...cached, model: 'claude-upstream-name' }),
        ],
      },
    },
    [412 + 5_300 + 823 + 1_348 + 5_300, 10_000, 89 + 1_612 + 442],
  ],
  [
    'turns of a provider-run tool, whose sum is at the top level',
    {
      content: SAID,
      stopReason: 'end_turn',
      usage: { input_tokens: 300, output_tokens: 50, iterations: [pass('message', 100, 20), pass('message', 200, 30)] },
    },
    [300, 0, 50],
  ],
  [
    'a fallback model that served the answer after another declined',
    {
      content: SAID,
      stopReason: 'end_turn',
      usage: {
        input_tokens: 500,
        output_tokens: 60,
        iterations: [
          pass('message', 480, 1, { model: 'claude-upstream-name' }),
          pass('fallback_message', 500, 60, { model: 'claude-fallback-name' }),
        ],
      },
    },
    [500, 0, 60],
  ],
]

describe.each(ROUTES)('every pass of a Claude call is billed, %s', (_, path) => {
  test.each(PASSES)('%s, non-streamed', async (_name, reply, [input, fromCache, output]) => {
    world.answer(json(200, wholeMessage(reply)))
    const response = await world.call(path, question(CLAUDE))
    expect(response.status).toBe(200)
    expect([response.headers.get('x-svc-input-tokens'), response.headers.get('x-svc-output-tokens')]).toEqual([
      String(input),
      String(output),
    ])
    expect(await response.text()).not.toMatch(/claude-(upstream|advisor|fallback)-name|upstream-name/)
    expect(await world.row()).toMatchObject({ input, cached: fromCache, output, estimated: false, status: 200 })
    expect(await world.spent()).toBe(BigInt(input + output) * (await world.priceOf(CLAUDE)))
  })

  test.each(PASSES)('%s, streamed', async (_name, reply, [input, fromCache, output]) => {
    world.answer(streamOf(messagesText(...messageEvents(reply))))
    const response = await world.call(path, question(CLAUDE, { stream: true, stream_options: { include_usage: true } }))
    const text = await response.text()
    expect(text).toMatch(/"stop_reason":"|"finish_reason":"/)
    expect(text).not.toMatch(/claude-(upstream|advisor|fallback)-name|upstream-name/)
    expect(await world.row()).toMatchObject({ input, cached: fromCache, output, estimated: false, status: 200 })
    if (path === '/v1/chat/completions')
      expect(text).toContain(`"prompt_tokens":${input},"completion_tokens":${output},`)
  })
})

test('every pass is billed on the AWS channel, streamed or not', async () => {
  const [, reply, [input, , output]] = PASSES[0] as (typeof PASSES)[number]
  let answer: Answer = []
  const provider = await startScriptedUpstream(() => answer)
  const running = await startTestGateway({ upstreams: { 'aws-bedrock': provider.url } })
  const account = await running.account(CREDIT)
  for (const stream of [false, true]) {
    answer = stream
      ? [
          head(200, { 'content-type': FRAME_STREAM }),
          write(Buffer.concat(messageEvents(reply).map(event => chunkFrame(event)))),
          end(),
        ]
      : json(200, wholeMessage(reply))
    const response = await fetch(`${running.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify(question('svc/claude-opus-4-5', { stream })),
    })
    await response.text()
  }
  expect(await running.usage(account.accountId)).toMatchObject([
    { input_tokens: input, output_tokens: output },
    { input_tokens: input, output_tokens: output },
  ])
  await running.close()
  await provider.close()
})

test('a client that leaves a stream pays for the passes reported so far, and for what was sent to it', async () => {
  const { content, stopReason, usage } = (PASSES[0] as (typeof PASSES)[number])[1]
  const startUsage = { input_tokens: 23_000, output_tokens: 1, iterations: [pass('compaction', 180_000, 3_500)] }
  const events = messageEvents({ content, stopReason, usage, startUsage }).slice(0, -2)
  world.answer([sse(), write(messagesText(...events)), hang()])
  const leaving = new AbortController()
  const response = await world.call('/v1/messages', question(CLAUDE, { stream: true }), { signal: leaving.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('Hà Nội')) text += Buffer.from((await reader.read()).value ?? []).toString('utf8')
  leaving.abort()
  const row = await world.row()
  expect(row).toMatchObject({ status: 499, input: 203_000, estimated: true })
  expect(row.output).toBeGreaterThan(3_500)
  expect(row.output).toBeLessThan(3_520)
  expect(row.charged).toBe(BigInt(row.input + row.output) * (await world.priceOf(CLAUDE)))
  expect(await world.spent()).toBe(row.charged)
})

/** Reports of more tokens than four context windows of a million: bytes counted as tokens, a sum over all events, and the like. */
const ABSURD: readonly (readonly [string, JsonObject])[] = [
  ['input', { input_tokens: 4_000_001, output_tokens: 7 }],
  ['cached input', { input_tokens: 10, cache_read_input_tokens: 90_000_000, output_tokens: 7 }],
  ['output', { input_tokens: 10, output_tokens: 4_000_001 }],
  [
    'a sum of iterations',
    { input_tokens: 10, output_tokens: 7, iterations: Array.from({ length: 200 }, () => pass('compaction', 9e7, 9e7)) },
  ],
]

describe.each(ROUTES)('absurd usage is billed by our own count, %s', (_, path) => {
  const reply = (usage: JsonObject): Reply => ({ content: SAID, stopReason: 'end_turn', usage, startUsage: usage })
  const billed = async (usage: JsonObject, stream: boolean) => {
    world.answer(
      stream ? streamOf(messagesText(...messageEvents(reply(usage)))) : json(200, wholeMessage(reply(usage))),
    )
    const extra = stream ? { stream, stream_options: { include_usage: true } } : {}
    const response = await world.call(path, question(CLAUDE, extra))
    return { text: await response.text(), row: await world.row() }
  }

  test.each(ABSURD.flatMap(([name, usage]) => [false, true].map(stream => [name, stream, usage] as const)))(
    '%s, streamed: %s',
    async (_name, stream, usage) => {
      const { row, text } = await billed(usage, stream)
      const { input, output, cost } = row
      expect(row).toMatchObject({ status: 200, estimated: true, cached: 0 })
      expect([input > 5, input < 50, output > 1, output < 20]).toEqual([true, true, true, true])
      expect(cost).toBe(BigInt(input + output) * (await world.priceOf(CLAUDE)))
      expect(text).toMatch(/"stop_reason":"end_turn"|"finish_reason":"stop"/)
      if (path === '/v1/chat/completions')
        expect(text).toContain(`"prompt_tokens":${input},"completion_tokens":${output},`)
    },
  )

  test('a report of four context windows is believed', async () => {
    const usage = { input_tokens: 4_000_000, output_tokens: 7 }
    expect((await billed(usage, false)).row).toMatchObject({ input: 4_000_000, output: 7, estimated: false })
  })
})

const NOTHING = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
const programCall = (caller: string): JsonObject => ({
  type: 'tool_use',
  id: 'toolu_01',
  name: 'query_database',
  input: { sql: 'select 1' },
  caller: { type: caller, tool_id: 'srvtoolu_1' },
})
/** Name of the case, content of the reply, and whether the gateway should believe that its usage is 0. */
const ZEROS: readonly (readonly [string, readonly JsonObject[], boolean])[] = [
  ['calls of a program', [programCall('code_execution_20250825'), programCall('code_execution_20260120')], true],
  ['a call of the model', [programCall('direct')], false],
  ['a call that does not name its caller', [{ type: 'tool_use', id: 't', name: 'f', input: {} }], false],
  ['text next to a call of a program', [...SAID, programCall('code_execution_20260120')], false],
  ['nothing', [], false],
]

describe('a reported usage of 0 is believed only for calls made by a program', () => {
  test.each(ZEROS)('Messages, non-streamed: %s', async (_name, content, isBelieved) => {
    world.answer(json(200, wholeMessage({ content, stopReason: 'tool_use', usage: NOTHING })))
    await (await world.call('/v1/messages', question(CLAUDE))).text()
    const row = await world.row()
    expect([row.input === 0, row.estimated, row.cost === 0n]).toEqual([isBelieved, !isBelieved, isBelieved])
  })

  test.each(ZEROS)('Messages, streamed: %s', async (_name, content, isBelieved) => {
    world.answer(streamOf(messagesText(...messageEvents({ content, stopReason: 'tool_use', usage: NOTHING }))))
    const text = await (await world.call('/v1/messages', question(CLAUDE, { stream: true }))).text()
    expect(text).toContain('event: message_stop')
    const row = await world.row()
    expect([row.input === 0, row.estimated, row.cost === 0n]).toEqual([isBelieved, !isBelieved, isBelieved])
  })

  const ITEMS: readonly (readonly [string, readonly JsonObject[], boolean])[] = [
    ['calls of a program', [responsesCall({ type: 'program', caller_id: 'prog_1' })], true],
    ['a call of the model', [responsesCall({ type: 'direct' })], false],
    ['a call without a caller', [responsesCall(null)], false],
    ['the program itself', [{ id: 'p', type: 'program', code: '1' }, responsesCall({ type: 'program' })], false],
    ['text', [{ id: 'm', type: 'message', content: [{ type: 'output_text', text: 'Hà Nội' }] }], false],
  ]
  function responsesCall(caller: JsonObject | null): JsonObject {
    return { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}', caller }
  }
  const zero = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
  const response = (output: readonly JsonObject[]) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'upstream-name',
    output,
    usage: zero,
  })
  const ask = (extra: object) =>
    fetch(`${world.running.url}/v1/responses`, {
      method: 'POST',
      headers: { 'x-api-key': world.account.apiKey },
      body: JSON.stringify({ model: 'gpt-5.5', input: 'Thủ đô của Việt Nam?', ...extra }),
    })

  test.each(ITEMS)('Responses, non-streamed: %s', async (_name, output, isBelieved) => {
    world.answer(json(200, response(output)))
    await (await ask({})).text()
    const row = await world.row()
    expect([row.input === 0, row.estimated, row.cost === 0n]).toEqual([isBelieved, !isBelieved, isBelieved])
  })

  // Some hosts omit `output` in the last event.
  test.each(
    ITEMS.flatMap(([name, output, isBelieved]) => [true, false].map(full => [name, output, isBelieved, full] as const)),
  )('Responses, streamed: %s', async (_name, output, isBelieved, isFull) => {
    const events = [
      { type: 'response.created', response: { ...response([]), status: 'in_progress', usage: null } },
      ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
      { type: 'response.completed', response: response(isFull ? output : []) },
    ]
    world.answer(streamOf(messagesText(...events)))
    expect(await (await ask({ stream: true })).text()).toContain('event: response.completed')
    const row = await world.row()
    expect([row.input === 0, row.estimated, row.cost === 0n]).toEqual([isBelieved, !isBelieved, isBelieved])
  })
})
