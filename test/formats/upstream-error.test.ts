import { describe, expect, test, vi } from 'vitest'
import {
  gatewayErrorOf,
  readFailedError,
  readUpstreamErrorValue,
  readUpstreamFailure,
} from '../../src/conversation/upstream-error.ts'

const NOW_MS = Date.parse('2026-11-20T10:00:00Z')

function failure(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readUpstreamFailure({ status, body: text, headers, nowMs: NOW_MS, secrets: ['pool-secret-1'] })
}

describe('the text of a refusal', () => {
  test.each<[string, unknown, string]>([
    [
      'messages',
      { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: 9 > 8' } },
      'max_tokens: 9 > 8',
    ],
    [
      'chat',
      { error: { message: 'Unknown parameter: x', type: 'invalid_request_error', param: 'x', code: null } },
      'Unknown parameter: x',
    ],
    ['numeric code', { error: { message: 'bad', code: 400, status: 'INVALID_ARGUMENT' } }, 'bad'],
    ['array-wrapped', [{ error: { message: 'bad', code: 400, status: 'INVALID_ARGUMENT' } }], 'bad'],
    ['error as a string', { error: 'bad things' }, 'bad things'],
    ['message only', { message: 'Malformed input request' }, 'Malformed input request'],
    ['Message only', { Message: 'Malformed' }, 'Malformed'],
    ['flat object', { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 }, 'bad'],
    ['detail', { detail: 'bad' }, 'bad'],
    [
      'detail list',
      { detail: [{ loc: ['body', 'messages', 0], msg: 'field required' }] },
      'body.messages.0: field required',
    ],
    ['error list', { errors: [{ message: 'bad' }] }, 'bad'],
    [
      'text of the provider after a general one',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"error":{"message":"inner"}}' } } },
      'inner',
    ],
  ])('is kept for the client: %s', (_, body, message) => {
    expect(failure(400, body)).toMatchObject({ kind: 'refused', status: 400, message })
    expect(failure(422, body)).toMatchObject({ kind: 'refused', status: 422, message })
  })

  test.each(['<html><body>400 Bad Request</body></html>', '', '{"error":', 'null', '[]', '7'])(
    'is a general one for %j',
    body => {
      const error = failure(400, body)
      expect(error).toMatchObject({ kind: 'refused', message: null })
      expect(gatewayErrorOf(error).message).toBe('The model refused the request.')
    },
  )

  test('shows no secret, account or resource name', () => {
    const message =
      'key sk-proj-a1b2c3d4e5 of org-Abc12345678, Bearer abc123def456, arn:aws:bedrock:us-east-1:123456789012:model/x, ' +
      'https://me:pass@host/, api_key="abcdefgh", pool-secret-1'
    expect(failure(400, { error: { message } }).message).toBe('key *** of ***, ***, *** https:***host/, ***", ***')
  })

  test('leaves ordinary words alone', () => {
    const message =
      'tools.0.user_preferences: sk_field, org_unit and bearer of toolu_01ABC are not permitted; call_abc12345678'
    expect(failure(400, { error: { message } }).message).toBe(message)
  })

  test.each([
    ['are nested absurdly deep', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['are very long', JSON.stringify({ a: 'x'.repeat(5_000) })],
    ['have the credential', '{"a":{"key":"pool-secret-1"}}'],
    ['have a key', '{"a":["sk-proj-abcdefgh12345678"]}'],
  ])('leaves out details that %s', (_, details) => {
    const { message, details: shown } = failure(400, `{"error":{"message":"gone","details":${details}}}`)
    expect([message, shown]).toEqual(['gone', null])
  })

  test('keeps the status of 413 and 422 and the details that SDKs read', () => {
    expect(gatewayErrorOf(failure(413, { error: { message: 'too big' } }))).toMatchObject({
      status: 413,
      type: 'request_too_large',
    })
    expect(gatewayErrorOf(failure(422, { error: { message: 'no' } }))).toMatchObject({
      status: 422,
      type: 'invalid_request_error',
    })
    const details = { error_code: 'thread_not_found' }
    expect(gatewayErrorOf(failure(404, { error: { message: 'gone', details } }))).toMatchObject({
      status: 404,
      message: 'gone',
      details: { details },
    })
  })
})

describe('a 404 about something that the client refers to', () => {
  test.each<[string, string | null]>([
    ["Item with id 'rs_1' not found.", 'input'],
    ["Item with id 'rs_1' not found.", null],
    ["Previous response with id 'resp_1' not found.", null],
    ["Conversation with id 'conv_1' not found.", null],
    ['No such File object: file-1', 'file_id'],
    ['File not found: file_011', null],
    ['Container `container_011` was not found', null],
  ])('is refused, with its text: %s (%s)', (message, param) => {
    const error = failure(404, { error: { message, type: 'invalid_request_error', param, code: null } })
    expect(error).toMatchObject({ kind: 'refused', status: 404, message, param })
  })
})

describe('a conversation that is too long', () => {
  const ADVICE = "This exceeds the model's maximum context length; reduce the length of the messages."

  test.each<[string, object, string]>([
    [
      'in words that clients know',
      { message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      'prompt is too long: 210000 tokens > 200000 maximum',
    ],
    ['in unknown words', { message: 'Prompt exceeds max length' }, `Prompt exceeds max length ${ADVICE}`],
    ['by its code', { message: 'no', code: 'context_length_exceeded' }, `no ${ADVICE}`],
    ['without words', { code: 'context_length_exceeded' }, ADVICE],
  ])('is reported so that every client understands it: %s', (_, error, message) => {
    expect(gatewayErrorOf(failure(400, { error }))).toMatchObject({
      code: 'context_length_exceeded',
      status: 400,
      message,
    })
  })
})

describe('the kind', () => {
  test.each<[string, number, unknown, string]>([
    ['wrong key', 401, { error: { message: 'invalid x-api-key' } }, 'operator'],
    ['no credit', 402, { error: { message: 'Insufficient Balance' } }, 'operator'],
    ['forbidden', 403, { error: { message: 'no' } }, 'operator'],
    ['no such path', 404, { type: 'error', error: { type: 'not_found_error', message: 'Not Found' } }, 'operator'],
    ['no such deployment', 404, { error: { code: '404', message: 'Resource not found' } }, 'operator'],
    ['no such model', 404, { error: { type: 'not_found_error', message: 'model: x' } }, 'operator'],
    [
      'no such model or path',
      404,
      { error: { message: 'The model `x` does not exist', param: null, code: 'model_not_found' } },
      'operator',
    ],
    ['no such model, named', 404, { error: { message: 'Model with id x not found', param: 'model' } }, 'operator'],
    ['no credit as 400', 400, { error: { message: 'Your credit balance is too low to access the API.' } }, 'operator'],
    ['wrong key as 400', 400, { error: { message: 'Incorrect API key provided: ab***' } }, 'operator'],
    ['unknown model as 400', 400, { error: { message: 'x', code: 'model_not_found' } }, 'operator'],
    ['no quota as 429', 429, { error: { message: 'You exceeded', type: 'insufficient_quota' } }, 'operator'],
    ['rate limit', 429, { error: { message: 'slow down' } }, 'rate_limited'],
    ['overloaded', 529, { error: { type: 'overloaded_error' } }, 'overloaded'],
    ['unavailable', 503, '', 'overloaded'],
    ['bad gateway', 502, '<html>', 'failed'],
    ['cloud proxy', 520, '', 'failed'],
    ['server error that mentions keys', 500, { error: { message: 'invalid api key store' } }, 'failed'],
    ['teapot', 418, '', 'failed'],
    ['redirect', 302, '', 'failed'],
    ['overflow', 400, { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } }, 'context_overflow'],
    ['overflow by code', 400, { error: { message: 'no', code: 'context_length_exceeded' } }, 'context_overflow'],
  ])('%s', (_, status, body, kind) => {
    const error = failure(status, body)
    expect(error.kind).toBe(kind)
    if (kind !== 'context_overflow') expect(error.message).toBeNull()
  })

  test.each<[string, unknown, number, string]>([
    ['overloaded', { type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 503, 'upstream_overloaded'],
    ['rate limit', { error: { message: 'x', code: 429 } }, 429, 'upstream_rate_limited'],
    ['refused', { error: { message: 'x', type: 'invalid_request_error' } }, 400, 'upstream_refused'],
    ['server', { error: { message: 'x', type: 'server_error' } }, 502, 'upstream_failed'],
    ['nothing known', { error: {} }, 502, 'upstream_failed'],
    [
      'outcome next to the reply',
      { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      502,
      'upstream_misconfigured',
    ],
  ])('inside a 200: %s', (_, body, status, code) => {
    const error = readUpstreamErrorValue(JSON.parse(JSON.stringify(body)))
    expect(error && gatewayErrorOf(error)).toMatchObject({ status, code })
  })

  test.each(['cyber_policy', 'content_filter', 'invalid_prompt', 'unsupported_value', 'image_too_large'])(
    'a refusal with %s keeps that code and the offending field',
    code => {
      const error = { message: 'No.', type: 'invalid_request_error', param: 'input[2].content', code }
      const told = { code: 'upstream_refused', clientCode: code, status: 400, details: { param: 'input[2].content' } }
      expect(gatewayErrorOf(failure(400, { error }))).toMatchObject(told)
      expect(gatewayErrorOf(readFailedError({ code, message: 'No.', param: 'input[2].content' }))).toMatchObject(told)
    },
  )

  test('codes that no client knows are withheld, as is all text that clients must not see', () => {
    const refused = gatewayErrorOf(failure(400, { error: { message: 'No.', code: 'policy_of_our_own' } }))
    expect([refused.clientCode, refused.details.param]).toEqual(['upstream_refused', undefined])
    const secret = failure(401, { error: { message: 'No.', code: 'invalid_prompt', param: 'account_7' } })
    expect([secret.code, secret.param]).toEqual([null, null])
    const masked = failure(400, { error: { message: 'No.', param: `x.sk-abc123456789 ${'y'.repeat(300)}` } })
    expect(masked.param).toBe(`x.*** ${'y'.repeat(194)}`)
  })

  test('a reply without an error is not an error', () => {
    expect(readUpstreamErrorValue({ choices: [], base_resp: { status_code: 0 } })).toBeNull()
    expect(readUpstreamErrorValue({ error: null, choices: [] })).toBeNull()
  })

  test('the log label contains single words only, because a sentence may quote the client', () => {
    const label = (type: string, code: string) => failure(400, { error: { type, code } }).label
    expect(label('Rate_Limit_Error', 'x'.repeat(40))).toBe(`rate_limit_error ${'x'.repeat(40)}`)
    expect(label('Some type <b>', 'x'.repeat(41))).toBe('')
  })
})

describe('retry-after', () => {
  test.each<[Record<string, string>, number | null]>([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0.2' }, 1],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' }, 30],
    [{ 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': '999999' }, 3600],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('%j is %j seconds', (headers, seconds) => {
    expect(failure(429, '', headers).retryAfterSeconds).toBe(seconds)
  })
})

test.each([
  {
    code: 'The caller does not have permission to execute the specified operation',
    error:
      'Content violates usage guidelines. Team: 12ab, API key ID: 34cd, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO',
  },
  { code: 'permission-denied', error: 'Content violates usage guidelines. ' },
])('a 403 about content is a refusal, and names nobody’s account: %j', body => {
  const error = failure(403, body)
  expect(error).toMatchObject({ kind: 'refused', status: 400, code: 'content_policy_violation' })
  expect(gatewayErrorOf(error)).toMatchObject({ status: 400, type: 'invalid_request_error' })
  expect(JSON.stringify(error)).not.toMatch(/12ab|34cd/)
  expect(failure(403, { ...body, error: 'Access to the chat endpoint is denied' }).kind).toBe('operator')
})

describe('words of the client in an error', () => {
  const error = (message: string) => JSON.stringify({ error: { message, type: 'invalid_request_error' } })
  const echoed = (message: string, request: string, status = 400) =>
    readUpstreamFailure({ status, body: error(message), nowMs: NOW_MS, request: Buffer.from(request) })

  test.each([
    ["Invalid value: 'insufficient_quota'.", '{"role":"insufficient_quota"}'],
    ['Your Credit balance is too low: Extra inputs are not permitted', '{"your credit Balance is too low":1}'],
    ["Tool 'invalid api key' not found", '{"name":"\\u0069nvalid api\\u0020key"}'],
    ["Tool 'INVALID API KEY' not found", '{"name":"\\u0049nvalid A\\u0050I \\u004BEY"}'],
    ["Unknown part 'api key expired'", '--form\r\n\r\napi key expired'],
  ])('do not make it the problem of the operator: %s', (message, request) => {
    expect(echoed(message, request)).toMatchObject({ kind: 'refused', status: 400, message: null })
  })

  test.each<[string, string]>([
    ['invalid params, unknown role: insufficient_quota', 'failed'],
    ["unknown tool 'invalid api key'", 'failed'],
    ['invalid api key', 'operator'],
    ['Your credit balance is too low.', 'operator'],
    ['You exceeded your current quota, please check your plan and billing details.', 'operator'],
  ])('do not in a reply with status 200 either, where only the start of the text counts: %s', (status_msg, kind) => {
    expect(readUpstreamErrorValue({ base_resp: { status_code: 2013, status_msg } })?.kind).toBe(kind)
    expect(readFailedError({ message: status_msg }).kind).toBe(kind)
  })

  test('are found without parsing the request, which may be as long as a body may be', () => {
    const parse = vi.spyOn(JSON, 'parse')
    expect(echoed("Tool 'invalid api key' not found", '{"name":"\\u0069nvalid api key"}').kind).toBe('refused')
    expect(parse.mock.calls.map(([text]) => text).filter(text => text.includes('name'))).toEqual([])
    parse.mockRestore()
  })

  test("leave the provider's own words and statuses what they are", () => {
    const message = 'Your credit balance is too low to access the API.'
    expect(echoed(message, '{"role":"user"}').kind).toBe('operator')
    expect(echoed(message, `{"content":"${message}"}`, 402).kind).toBe('operator')
    expect(echoed(message, `{"content":"${message}"}`, 429).kind).toBe('rate_limited')
  })
})

describe('a wait that only the text asks for', () => {
  test.each<[string, number | null]>([
    ['Rate limit reached for gpt-5.5. Please try again in 2s.', 2],
    ['Please try again in 300ms. Visit https://example.com/limits', 1],
    ['Please try again in 6m0s.', 360],
    ['Please try again in 1h2m3.5s.', 3_600],
    ['Please retry after 28 seconds.', 28],
    ['Please retry in 36.49s.', 37],
    ['Try again in 2 minutes', 120],
    ['Please try again in a moment.', null],
    ['Please try again in 5 parsecs.', null],
    ['You sent 5s of audio.', null],
  ])('%s: %j seconds', (message, seconds) => {
    const error = { code: 'rate_limit_exceeded', message }
    expect(failure(429, { error }).retryAfterSeconds).toBe(seconds)
    expect(gatewayErrorOf(readFailedError(error)).details.retryAfterSeconds).toBe(seconds ?? undefined)
  })

  test('counts for nothing beside a header, or if the error is no limit', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Please try again in 2s.' }
    expect(failure(429, { error }, { 'retry-after': '7' }).retryAfterSeconds).toBe(7)
    expect(failure(400, { error: { message: 'Please try again in 2s.' } }).retryAfterSeconds).toBeNull()
  })
})

test('masks a credential that crosses the point where long text is truncated', async () => {
  const { maskSecrets } = await import('../../src/conversation/mask.ts')
  const secret = `xai${'Q'.repeat(40)}`
  expect(maskSecrets(`${'e '.repeat(1985)}${secret} tail`, [secret])).not.toContain('QQQ')
})

describe('a very long error text', () => {
  /** The longest text in which a pattern was searched. */
  async function searched(text: string): Promise<number> {
    const { maskSecrets } = await import('../../src/conversation/mask.ts')
    const replace = vi.spyOn(String.prototype, 'replace')
    maskSecrets(text)
    const longest = Math.max(...replace.mock.contexts.map(context => String(context).length))
    replace.mockRestore()
    return longest
  }

  // In a text with as many beginnings of a secret and no end, a search takes quadratic time: half a minute for 256 kB.
  test.each(['sk-', 'eyJ-', 'sk- eyJ-', 'x'])('made of %j is only searched at its beginning', async part => {
    expect(await searched(part.repeat(20_000))).toBeLessThanOrEqual(8_000)
  })

  test('has its secrets masked, also one that is cut where the search ends', async () => {
    const { maskSecrets } = await import('../../src/conversation/mask.ts')
    const key = `sk-proj-${'a'.repeat(100)}${'7'.repeat(100)}`
    for (let offset = 0; offset < 220; offset++) {
      const masked = maskSecrets(`${'e'.repeat(offset)} ${`${key} `.repeat(60)}tail`)
      expect(masked.replaceAll('***', '')).not.toMatch(/aaaaaaa|7777777/)
    }
  })
})
