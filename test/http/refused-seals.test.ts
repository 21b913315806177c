/**
 * Clients send back reasoning that a provider has sealed (encrypted). If the provider refuses to open it, the gateway sends the
 * call again without it, and does not count this as a failure of the provider.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  json,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5.5',
  output: [{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Chào' }] }],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
}
const refusal = (error: object) => json(400, { error: { type: 'invalid_request_error', param: null, ...error } })
const REFUSALS: Readonly<Record<string, Answer>> = {
  'by its code': refusal({ code: 'invalid_encrypted_content', message: 'The encrypted content gAAA is not valid.' }),
  'by a text without a code': refusal({
    code: null,
    message: 'The encrypted content for item rs_1 could not be verified.',
  }),
  'by the item that is missing': refusal({
    code: null,
    message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  }),
}
const USER = '{"role":"user","content":"ế 12345678901234567890"}'
const REASONING = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}'
const CALL = '{ "type":"function_call","call_id":"c1","name":"f","arguments":"{}" }'
const bodyOf = (items: readonly string[], more = '') =>
  `{"model":"gpt-5.5", "input": [${items.join(',')}],"store":false${more}}`

let script: Answer[] = []
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(() => script.shift() ?? json(500, {}))
  // With a single attempt allowed per call, the tests show that sending a call again does not count as another attempt.
  running = await startTestGateway({
    upstreams: { openai: `${provider.url}/v1`, anthropic: provider.url },
    environment: { LIMIT_UPSTREAM_TRIES_MAX: '1' },
  })
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

async function call(body: string, answers: readonly Answer[], path = '/v1/responses', { apiKey } = account) {
  script = [...answers]
  const before = provider.requests.length
  const response = await fetch(running.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body,
  })
  const text = await response.text()
  return { status: response.status, text, sent: provider.requests.slice(before).map(sent => sent.body.toString()) }
}

test.each(Object.entries(REFUSALS))(
  'a call is resent without its sealed reasoning if that is refused %s',
  async (_how, refused) => {
    const body = bodyOf([USER, REASONING, CALL])
    const { status, sent } = await call(body, [refused, json(200, RESPONSE)])
    expect([status, sent]).toEqual([200, [body, bodyOf([USER, CALL])]])
    expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, input_tokens: 3, output_tokens: 2 }])
  },
)

test('a streamed call is resent, too', async () => {
  const stream: Answer = [
    sse(),
    write(
      `event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","model":"gpt-5.5"}}\n\n`,
    ),
    write(`event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: RESPONSE })}\n\n`),
    end(),
  ]
  const refused = REFUSALS['by its code'] as Answer
  const { status, text, sent } = await call(bodyOf([USER, REASONING], ',"stream":true'), [refused, stream])
  expect([status, text.includes('response.completed'), sent.length]).toEqual([200, true, 2])
})

test('resends only once: if the call is refused without its reasoning, too, the client gets that refusal', async () => {
  const refused = REFUSALS['by its code'] as Answer
  const { status, text, sent } = await call(bodyOf([REASONING, USER]), [refused, refused, json(200, RESPONSE)])
  expect([status, sent.length]).toEqual([400, 2])
  expect(text).toContain('The encrypted content gAAA is not valid.')
})

test('resends nothing after other refusals, or without reasoning in the body', async () => {
  const other = refusal({ code: 'invalid_prompt', message: 'This prompt is not allowed.' })
  expect((await call(bodyOf([USER, REASONING]), [other, json(200, RESPONSE)])).sent).toHaveLength(1)
  const refused = REFUSALS['by its code'] as Answer
  const plain = await call(bodyOf([USER]), [refused, json(200, RESPONSE)])
  expect([plain.status, plain.sent.length]).toEqual([400, 1])
})

test('resending is neither an attempt of its own nor a fault of the provider', async () => {
  const refused = REFUSALS['by its code'] as Answer
  const status = () => running.gateway.upstreams.status().find(({ id }) => id === 'openai')
  const before = status()
  const { sent } = await call(bodyOf([USER, REASONING]), [refused, json(200, RESPONSE)])
  await running.usage(account.accountId)
  const { tries = 0, failures = 0, state } = before ?? {}
  expect(sent).toHaveLength(2)
  expect(status()).toMatchObject({ tries: tries + 1, failures, state, callsInFlight: 0 })
})

const SEAL = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h'
const TOOL = { name: 'f', parameters: { type: 'object', properties: {} } }
const SEALED_RESPONSE = {
  ...RESPONSE,
  output: [{ id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: SEAL }, ...RESPONSE.output],
}
const SEALED_MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [
    { type: 'thinking', thinking: 'Why?', signature: SEAL },
    { type: 'text', text: 'Hello.' },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 2 },
}
const chatBody = (model: string) => (messages: readonly object[]) => ({ model, reasoning_effort: 'low', messages })

interface SealingRoute {
  readonly reply: object
  readonly body: (turns: readonly object[]) => object
  /** Turns a reply into the messages or items that the client sends back in its next call. */
  readonly sendBack: (reply: never) => readonly object[]
}

const SEALING_ROUTES: readonly (readonly [path: string, model: string, SealingRoute])[] = [
  [
    '/v1/messages',
    'gpt-5.5',
    {
      reply: SEALED_RESPONSE,
      body: messages => ({
        model: 'gpt-5.5',
        max_tokens: 99,
        output_config: { effort: 'low' },
        tools: [{ name: 'f', input_schema: TOOL.parameters }],
        messages,
      }),
      sendBack: ({ content }: { content: object[] }) => [{ role: 'assistant', content }],
    },
  ],
  [
    '/v1/chat/completions',
    'gpt-5.5',
    {
      reply: SEALED_RESPONSE,
      body: messages => ({ ...chatBody('gpt-5.5')(messages), tools: [{ type: 'function', function: TOOL }] }),
      sendBack: ({ choices }: { choices: { message: object }[] }) => [choices[0]!.message],
    },
  ],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    {
      reply: SEALED_MESSAGE,
      body: chatBody('claude-opus-5'),
      sendBack: ({ choices }: { choices: { message: object }[] }) => [choices[0]!.message],
    },
  ],
  [
    '/v1/responses',
    'claude-opus-5',
    {
      reply: SEALED_MESSAGE,
      body: input => ({ model: 'claude-opus-5', store: false, input }),
      sendBack: ({ output }: { output: object[] }) => output,
    },
  ],
]
test.each(SEALING_ROUTES)(
  '%s with %s: sealed reasoning in a reply only opens for the account that got it',
  async (path, _model, route) => {
    const user = { role: 'user', content: 'hi' }
    const ask = (turns: readonly object[], asker: TestAccount) =>
      call(JSON.stringify(route.body(turns)), [json(200, route.reply)], path, asker)
    const first = await ask([user], account)
    expect(first.status).toBe(200)
    const turns = [user, ...route.sendBack(JSON.parse(first.text) as never), user]
    expect(JSON.stringify(turns)).toContain('gwm1.')
    const own = await ask(turns, account)
    expect([own.status, own.sent[0]]).toEqual([200, expect.stringContaining(SEAL)])
    const other = await running.account(CREDIT)
    const foreign = await ask(turns, other)
    expect([foreign.status, foreign.sent[0]]).toEqual([200, expect.not.stringMatching(/gwm1|EqQBCgIYAhIM/)])
    expect(foreign.sent[0]).toMatch(/Chào|Hello/)
  },
)

test('an id that carries another account’s item is refused with an explanation, and never sent upstream', async () => {
  const first = await call('{"model":"claude-opus-5","input":"hi"}', [json(200, SEALED_MESSAGE)])
  const [reasoning, message] = (JSON.parse(first.text) as { output: { id: string }[] }).output
  const references = (items: object[], model: string) =>
    JSON.stringify({ model, input: [{ role: 'user', content: 'hi' }, ...items, { role: 'user', content: 'go on' }] })
  const id = (item = message) => ({ type: 'item_reference', id: item!.id })
  const answer = json(200, RESPONSE)
  const own = await call(references([id(reasoning), id()], 'gpt-5.5'), [answer])
  expect([own.status, own.sent[0]]).toEqual([200, expect.stringContaining('Hello.')])
  const other = await running.account(CREDIT)
  for (const model of ['gpt-5.5', 'claude-opus-5']) {
    const refused = await call(references([id()], model), [answer], '/v1/responses', other)
    expect(refused).toMatchObject({ status: 400, sent: [] })
    expect(refused.text).toContain('input[1]: item_reference cannot be resolved')
  }
  const left = await call(references([id(reasoning)], 'gpt-5.5'), [answer], '/v1/responses', other)
  expect([left.status, left.sent[0]]).toEqual([200, expect.not.stringContaining('gwm1')])
})
