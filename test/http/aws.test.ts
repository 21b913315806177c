/** The AWS channel: Messages over Bedrock's InvokeModel, signed or with an API key, with binary streams converted to SSE. */

import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunkFrame, exceptionFrame, FRAME_STREAM } from '../../src/sandbox/bedrock/frames.ts'
import { chatCall, goodMessage, MESSAGE, MESSAGES_STREAM } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  head,
  json,
  reset,
  type ScriptedUpstream,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n
const ENTRY = 'svc/claude-opus-4-5'
const VND = 7600n

function post(url: string, account: TestAccount, body: string, headers: Record<string, string> = {}) {
  return fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': account.apiKey, ...headers }, body })
}

describe('with the sandbox, which checks signatures', () => {
  let running: TestGateway
  let account: TestAccount
  beforeAll(async () => {
    running = await startTestGateway()
    account = await running.account(CREDIT)
  })
  afterAll(() => running.close())

  test('the official SDK gets replies and streams, and the model under its own name', async () => {
    const client = new Anthropic({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 })
    const body = { model: ENTRY, max_tokens: 200, messages: [{ role: 'user' as const, content: 'Xin chào' }] }
    const whole = await client.messages.create(body)
    const streamed = await client.messages.stream(body).finalMessage()
    for (const message of [whole, streamed]) {
      expect(message).toMatchObject({ type: 'message', model: ENTRY, stop_reason: 'end_turn' })
      expect(message.usage.output_tokens).toBeGreaterThan(0)
    }
  })

  test('the other models of the channel answer a signed chat call', async () => {
    const response = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: chatCall('svc/gpt-oss-120b'),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-simulated')).toBe('true')
  })

  test('errors at the first event are HTTP errors, later ones are events', async () => {
    const say = (words: string) =>
      post(
        running.url,
        account,
        JSON.stringify({ model: ENTRY, max_tokens: 99, stream: true, messages: [{ role: 'user', content: words }] }),
      )
    const busy = await say('sandbox:error=429')
    expect([busy.status, ((await busy.json()) as { error: { type: string } }).error.type]).toEqual([
      429,
      'rate_limit_error',
    ])
    const broken = await (await say('sandbox:error-event')).text()
    expect(broken).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"api_error"/)
    expect(broken).not.toContain('message_stop')
  })
})

const EVENTS = MESSAGES_STREAM.trim()
  .split('\n\n')
  .map(event => JSON.parse(event.slice(event.indexOf('{'))))
const LAST = { ...EVENTS.at(-1), 'amazon-bedrock-invocationMetrics': { inputTokenCount: 10 } }
const START = Buffer.concat(EVENTS.slice(0, 3).map(chunkFrame))
const FRAMES = Buffer.concat([...EVENTS.slice(0, -1), LAST].map(chunkFrame))
const HEAD = head(200, { 'content-type': FRAME_STREAM })

describe.each(['API key', 'access keys'])('with a provider on a socket and %s', kind => {
  let provider: ScriptedUpstream
  let running: TestGateway
  let account: TestAccount
  let answer: Answer
  beforeAll(async () => {
    provider = await startScriptedUpstream(() => answer)
    const name = 'UPSTREAM_AWS_BEDROCK'
    running = await startTestGateway(
      kind === 'API key'
        ? { upstreams: { 'aws-bedrock': provider.url } }
        : {
            environment: {
              [`${name}_BASE_URL`]: `${provider.url}/base`,
              AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
              AWS_SECRET_ACCESS_KEY: 'access-secret-1',
              AWS_SESSION_TOKEN: 'session-token-1',
              AWS_REGION: 'ap-southeast-1',
            },
          },
    )
  })
  beforeEach(async () => {
    account = await running.account(CREDIT)
  })
  afterAll(async () => {
    await running.close()
    await provider.close()
  })

  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const format = { type: 'json_schema', schema }
  test.each([
    ['alone', { output_config: { format } }, undefined],
    ['beside an effort', { output_config: { format, effort: 'low' }, system: 'Be brief.' }, { effort: 'low' }],
    [
      'by its old name, with instructions in blocks',
      { output_format: format, system: [{ type: 'text', text: 'A' }] },
      undefined,
    ],
  ])('a reply schema is described in the prompt, because the host supports none: %s', async (_name, extra, config) => {
    answer = goodMessage
    const response = await post(running.url, account, chatCall(ENTRY, extra))
    expect(response.status).toBe(200)
    const sent = provider.requests.at(-1)?.json() as Record<string, unknown>
    expect(sent.output_config).toEqual(config)
    expect(sent.output_format).toBeUndefined()
    expect(JSON.stringify(sent.system)).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1))
  })

  test('the body is the client’s without model and stream, plus the version and the allowed betas', async () => {
    answer = goodMessage
    const body =
      '{"model":"MODEL","big":12345678901234567890,"max_tokens":9,"messages":[{"role":"user","content":"ế"}]}'
    const betas = { 'anthropic-beta': 'context-1m-2025-08-07, unheard-of-2026-01-01' }
    const response = await post(running.url, account, body.replace('MODEL', ENTRY), betas)
    expect(await response.json()).toEqual({ ...MESSAGE, model: ENTRY })
    const request = provider.requests.at(-1)
    expect(request?.path).toMatch(/\/model\/global\.anthropic\.claude-opus-4-5-20251101-v1%3A0\/invoke$/)
    expect(request?.json()).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
      big: expect.any(Number),
      max_tokens: 9,
      messages: [{ role: 'user', content: 'ế' }],
    })
    expect(request?.body.toString()).toContain('"big":12345678901234567890')
    expect(request?.headers['anthropic-beta']).toBeUndefined()
    expect(request?.headers['anthropic-version']).toBeUndefined()
    if (kind === 'API key') expect(request?.headers.authorization).toBe('Bearer upstream-secret-1')
    else {
      expect(request?.path).toMatch(/^\/base\/model/)
      expect(request?.headers.authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/ap-southeast-1\/bedrock\/aws4_request, SignedHeaders=.*host.*Signature=/,
      )
      expect(request?.headers['x-amz-security-token']).toBe('session-token-1')
    }
    const plain = await post(running.url, account, body.replace('MODEL', ENTRY))
    expect(plain.status).toBe(200)
    expect(provider.requests.at(-1)?.json()).not.toHaveProperty('anthropic_beta')
  })

  const tools = [{ name: 'f', input_schema: { type: 'object' }, defer_loading: true }]
  const deferred = { tools, messages: [{ role: 'user', content: 'x', output_config: { effort: 'low' } }] }
  test.each<[string, string, string[] | undefined, boolean, boolean]>([
    ['none', '', undefined, false, false],
    ['the vendor’s name', 'advanced-tool-use-2025-11-20', ['tool-search-tool-2025-10-19'], true, false],
    ['the host’s name', 'tool-search-tool-2025-10-19', ['tool-search-tool-2025-10-19'], true, false],
    [
      'both names',
      'advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19',
      ['tool-search-tool-2025-10-19'],
      true,
      false,
    ],
    [
      'another flag',
      'mid-conversation-output-config-2026-07-01',
      ['mid-conversation-output-config-2026-07-01'],
      false,
      true,
    ],
    ['an unknown flag', 'unheard-of-2026-01-01', undefined, false, false],
  ])(
    'a beta is sent under its name at this host, together with its fields: %s',
    async (_name, flag, sent, defers, configures) => {
      answer = goodMessage
      const headers = flag === '' ? {} : { 'anthropic-beta': flag }
      const response = await post(running.url, account, chatCall('svc/claude-opus-5', deferred), headers)
      expect(response.status).toBe(200)
      const body = provider.requests.at(-1)?.json() as {
        anthropic_beta?: string[]
        tools: object[]
        messages: object[]
      }
      expect(body.anthropic_beta).toEqual(sent)
      expect(body.tools).toEqual(defers ? tools : [{ name: 'f', input_schema: { type: 'object' } }])
      expect(body.messages).toEqual(configures ? deferred.messages : [{ role: 'user', content: 'x' }])
    },
  )

  test.each([1, 3, 1000, 1_000_000])('reads a stream cut every %i bytes, and drops its metrics', async cutEvery => {
    answer = [HEAD, write(FRAMES, { cutEvery }), end()]
    const response = await post(running.url, account, chatCall(ENTRY, { stream: true }))
    expect(provider.requests.at(-1)?.path).toMatch(/\/invoke-with-response-stream$/)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await response.text()).toBe(MESSAGES_STREAM.replace('upstream-name', ENTRY))
    expect(await running.usage(account.accountId)).toMatchObject([
      { status: 200, input_tokens: 10, output_tokens: 25, cost: 35n * VND, estimated: false },
    ])
  })

  const damaged = Buffer.from(FRAMES)
  damaged[60] = (damaged[60] as number) ^ 1
  const endless = Buffer.from(FRAMES)
  endless.writeUInt32BE(0x7fffffff, 0)
  test.each<[string, Answer, number]>([
    ['a damaged frame', [HEAD, write(damaged), end()], 502],
    ['a frame without an end', [HEAD, write(endless), end()], 502],
    ['half a frame', [HEAD, write(FRAMES.subarray(0, 50)), end()], 502],
    ['no frame', [HEAD, end()], 502],
    ['throttling', [HEAD, write(exceptionFrame('throttlingException', 'slow down')), end()], 429],
    ['a refusal', [HEAD, write(exceptionFrame('validationException', 'max_tokens: too many')), end()], 400],
    ['a model error', [HEAD, write(exceptionFrame('modelStreamErrorException', 'x')), end()], 502],
    ['an unavailable service', [HEAD, write(exceptionFrame('serviceUnavailableException', 'x')), end()], 503],
    [
      '403',
      json(403, { message: 'no access, upstream-secret-1' }, { 'x-amzn-errortype': 'AccessDeniedException:' }),
      502,
    ],
    ['a quota', json(400, { message: 'x' }, { 'x-amzn-errortype': 'ServiceQuotaExceededException:http://x' }), 502],
    ['429', json(429, { message: 'x' }, { 'x-amzn-errortype': 'ThrottlingException' }), 429],
    ['400', json(400, { message: 'Malformed input' }, { 'x-amzn-errortype': 'ValidationException' }), 400],
  ])('%s at the start is an HTTP error, not charged', async (_name, failure, status) => {
    answer = failure
    const response = await post(running.url, account, chatCall(ENTRY, { stream: true }))
    const text = await response.text()
    expect([response.status, text.includes('upstream-secret')]).toEqual([status, false])
    if (status === 400) expect(text).toMatch(/Malformed input|max_tokens: too many/)
    expect(await running.usage(account.accountId)).toMatchObject([{ status, cost: 0n }])
    expect(await running.balance(account.accountId)).toBe(CREDIT)
  })

  test.each<[string, Answer]>([
    ['an exception', [HEAD, write(Buffer.concat([START, exceptionFrame('internalServerException', 'x')])), end()]],
    ['a damaged frame', [HEAD, write(Buffer.concat([START, Buffer.alloc(100, 7)])), end()]],
    ['a reset', [HEAD, write(START), reset()]],
    ['a premature end', [HEAD, write(START), end()]],
  ])('%s in the middle of a stream is an error event, not charged', async (_name, broken) => {
    answer = broken
    const text = await (await post(running.url, account, chatCall(ENTRY, { stream: true }))).text()
    expect(text).toContain('message_start')
    expect(text).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"api_error".*\n\n$/)
    expect(await running.balance(account.accountId)).toBe(CREDIT)
  })
})
