/** Changes to a key's settings apply to its next call in every gateway, and each refusal names the setting behind it. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeKey, type KeySettings, pauseKey } from '../../src/accounts/key-settings.ts'
import { revokeKey } from '../../src/accounts/keys.ts'
import { endReplacedSecret, replaceSecret } from '../../src/accounts/replace-secret.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { formatVnd, microVnd } from '../../src/lib/money.ts'
import { nextPeriod } from '../../src/lib/period.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { UNLIMITED } from '../support/keys.ts'

const CREDIT = 1_000_000_000_000n

let running: TestGateway
let urls: readonly string[]
beforeAll(async () => {
  running = await startTestGateway()
  urls = [running.url, (await running.sibling()).url]
})
afterAll(() => running.close())

function call(url: string, { apiKey }: TestAccount, model = 'claude-sonnet-5'): Promise<Response> {
  const body = JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] })
  return fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': apiKey }, body })
}

/** Creates an account, and uses its key at both gateways, so that both have the key in their cache. */
async function knownAccount(): Promise<TestAccount> {
  const account = await running.account(CREDIT)
  for (const url of urls) expect((await call(url, account)).status).toBe(200)
  return account
}

const change = (account: TestAccount, settings: Partial<KeySettings>) =>
  changeKey(running.database.sql, account, { ...UNLIMITED, ...settings })

async function expectRefused(response: Response, status: number, code: string): Promise<unknown> {
  expect([response.status, response.headers.get('x-svc-error-code')]).toEqual([status, code])
  expect(response.headers.get('x-should-retry')).toBe(status === 429 ? null : 'false')
  const { error } = (await response.json()) as { error: { code: string; message: string; metadata?: unknown } }
  expect(error.code).toBe(code)
  return { message: error.message, ...(error.metadata === undefined ? {} : { metadata: error.metadata }) }
}

test('a paused key gets a 401 with its own code in every gateway, on every route, until it is resumed', async () => {
  const account = await knownAccount()
  await pauseKey(running.database.sql, account, true)
  for (const url of urls) {
    expect(await expectRefused(await call(url, account), 401, 'key_disabled')).toEqual({
      message: 'This API key is paused. Its owner can switch it on again in the dashboard under Keys.',
    })
    const list = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': account.apiKey } })
    await expectRefused(list, 401, 'key_disabled')
  }
  await pauseKey(running.database.sql, account, false)
  for (const url of urls) expect((await call(url, account)).status).toBe(200)
})

test('an expired key gets a 401 with its own code, in every gateway', async () => {
  const account = await knownAccount()
  await change(account, { expiresAt: new Date(Date.now() - 1) })
  for (const url of urls) await expectRefused(await call(url, account), 401, 'key_expired')
  await change(account, { expiresAt: new Date(Date.now() + 60_000) })
  for (const url of urls) expect((await call(url, account)).status).toBe(200)
})

test('a key that is unknown and one that was revoked are told apart in words', async () => {
  const account = await knownAccount()
  const { sql } = running.database
  await sql`update api_key set revoked_at = now(), encryption_id = null, encryption_iv = null, ciphertext = null
             where key_id = ${account.keyId}`
  for (const url of urls) {
    expect(await expectRefused(await call(url, account), 401, 'authentication_failed')).toEqual({
      message: 'This API key has been revoked. Create a new one in the dashboard.',
    })
  }
  const wrong = await call(running.url, { ...account, apiKey: `${account.apiKey}x` })
  expect(await expectRefused(wrong, 401, 'authentication_failed')).toMatchObject({
    message: expect.stringContaining('API key is wrong'),
  })
  const missing = await fetch(`${running.url}/v1/models`)
  expect(await expectRefused(missing, 401, 'authentication_failed')).toMatchObject({
    message: expect.stringContaining('API key is missing'),
  })
})

test('a spent limit is a 402 that says whose limit, how much and until when; an empty wallet is a different 402', async () => {
  const account = await knownAccount()
  await change(account, { limitVnd: 1, limitReset: 'daily' })
  const spent = (await running.usage(account.accountId)).reduce((sum, { charged }) => sum + charged, 0n)
  expect(spent).toBeGreaterThan(0n)
  await running.database.sql`update usage_daily set charged_micro_vnd = 1500000 where key_id = ${account.keyId}`
  for (const url of urls) {
    const refused = await expectRefused(await call(url, account), 402, 'spend_cap_reached')
    expect(refused).toMatchObject({
      message: expect.stringMatching(
        /^This API key has spent its limit of 1 VND a day\. It works again from \d{4}-\d\d-\d\d 00:00 \(Vietnam time\)/,
      ),
      metadata: { limit_source: 'key', limit: '1', used: '1.5', resets_at: expect.stringMatching(/T17:00:00\.000Z$/) },
    })
  }
  await change(account, { limitVnd: 1, limitReset: null })
  const forever = await expectRefused(await call(running.url, account), 402, 'spend_cap_reached')
  expect(forever).toMatchObject({
    message: expect.stringContaining('It works again as soon as the limit is raised'),
    metadata: { resets_at: null },
  })
  await change(account, { limitVnd: 1_000_000 })
  for (const url of urls) expect((await call(url, account)).status).toBe(200)
  const rows = await running.database
    .sql`select status, error_code from usage where account_id = ${account.accountId} and status >= 400`
  expect(rows).toEqual(Array(3).fill({ status: 402, error_code: 'spend_cap_reached' }))

  const poor = await running.account(0n)
  expect(await expectRefused(await call(running.url, poor), 402, 'insufficient_balance')).toMatchObject({
    metadata: { limit_source: 'wallet' },
  })
})

test('a key restricted to some models gets a 403 and a usage row for others, and lists only its own', async () => {
  const account = await knownAccount()
  await change(account, { allowedModels: ['gpt-5.5', 'deepseek/*'] })
  for (const url of urls) {
    expect(await expectRefused(await call(url, account), 403, 'model_not_allowed')).toMatchObject({
      message: expect.stringContaining('may not call claude-sonnet-5'),
    })
    expect((await call(url, account, 'gpt-5.5')).status).toBe(200)
    expect((await call(url, account, 'deepseek-v4-flash')).status).toBe(200)
  }
  const read = (path: string) => fetch(`${running.url}${path}`, { headers: { 'x-api-key': account.apiKey } })
  const list = (await (await read('/v1/models')).json()) as { data: { id: string }[] }
  const families = TABLES.entries.filter(({ family, id }) => family === 'deepseek' || id === 'gpt-5.5')
  expect(list.data.map(({ id }) => id).sort()).toEqual(families.map(({ id }) => id).sort())
  expect((await read('/v1/models/gpt-5.5')).status).toBe(200)
  await expectRefused(await read('/v1/models/claude-sonnet-5'), 403, 'model_not_allowed')
  const whole = await fetch(`${running.url}/v1/models`, {
    headers: { 'x-api-key': (await running.account(0n)).apiKey },
  })
  expect(((await whole.json()) as { data: unknown[] }).data.length).toBeGreaterThan(list.data.length + 10)
  const rows = await running.database
    .sql`select status, entry_id, error_code from usage where account_id = ${account.accountId} and status >= 400`
  expect(rows).toEqual(Array(2).fill({ status: 403, entry_id: 'claude-sonnet-5', error_code: 'model_not_allowed' }))
})

test('calls above the limits per minute and in flight get a 429 that names the limit', async () => {
  const account = await running.account(CREDIT)
  await change(account, { callsPerMinute: 1 })
  expect((await call(running.url, account)).status).toBe(200)
  for (const url of urls) {
    const refused = await call(url, account)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await expectRefused(refused, 429, 'rate_limited')).toMatchObject({
      metadata: { limit_source: 'calls_per_minute', limit: 1 },
    })
  }
})

test('GET /v1/key says exactly what the key may do, has cost and has left; non-streamed replies state the balance', async () => {
  const account = await running.account(CREDIT)
  const read = async (url = running.url) => {
    const response = await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${account.apiKey}` } })
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    return response.text()
  }
  const nothing = { usage: 0, usage_daily: 0, usage_weekly: 0, usage_monthly: 0 }
  const byok = { byok_usage: 0, byok_usage_daily: 0, byok_usage_weekly: 0, byok_usage_monthly: 0 }
  const { rateLimitPerMinute, concurrencyMax } = TABLES.settings
  expect(JSON.parse(await read())).toEqual({
    data: {
      label: `sk-svc-…${account.apiKey.slice(-4)}`,
      name: '',
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      limit_resets_at: null,
      ...nothing,
      ...byok,
      include_byok_in_limit: false,
      is_management_key: false,
      creator_user_id: null,
      disabled: false,
      expires_at: null,
      allowed_models: null,
      rpm: rateLimitPerMinute || null,
      concurrency: concurrencyMax || null,
      balance: '1000000',
      held: '0',
      currency: 'VND',
      time_zone: 'Asia/Ho_Chi_Minh',
    },
  })
  const answered = await call(running.url, account)
  const [row] = await running.usage(account.accountId)
  const balance = formatVnd(microVnd(CREDIT - (row?.charged ?? 0n)))
  expect(answered.headers.get('x-svc-balance-vnd')).toBe(balance)
  const expiresAt = new Date(Date.now() + 3_600_000)
  const limits = { limitVnd: 100_000, limitReset: 'weekly', callsPerMinute: 7, callsInFlight: 3 } as const
  await change(account, { ...limits, expiresAt, allowedModels: ['claude/*'] })
  await running.database.sql`update usage_daily set charged_micro_vnd = 1234567 where key_id = ${account.keyId}`
  for (const url of urls) {
    const text = await read(url)
    expect(text).toContain('"limit":100000,"limit_remaining":99998.765433,')
    expect(JSON.parse(text).data).toMatchObject({
      name: 'laptop',
      limit_reset: 'weekly',
      limit_resets_at: nextPeriod('weekly', new Date()).toISOString(),
      usage: 1.234567,
      usage_daily: 1.234567,
      usage_weekly: 1.234567,
      usage_monthly: 1.234567,
      expires_at: expiresAt.toISOString(),
      allowed_models: ['claude/*'],
      rpm: 7,
      concurrency: 3,
      balance,
    })
  }
  const poor = await running.account(0n)
  expect((await fetch(`${running.url}/v1/key`, { headers: { 'x-api-key': poor.apiKey } })).status).toBe(200)
  expect((await fetch(`${running.url}/v1/key`)).status).toBe(401)
})

test('a replaced secret works alongside the new one until its overlap ends, and then in no gateway', async () => {
  const account = await knownAccount()
  const { sql } = running.database
  const statuses = (apiKey: string) =>
    Promise.all(urls.map(async url => (await call(url, { ...account, apiKey })).status))
  const rotate = (rotations: number, overlapHours: number) =>
    replaceSecret(sql, running.secrets, { ...account, rotations, overlapHours })
  const first = await rotate(0, 24)
  if (first.outcome !== 'replaced') throw new Error(first.outcome)
  expect(first.oldUntil?.getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000)
  expect([await statuses(account.apiKey), await statuses(first.key)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  // Both secrets belong to the same key, so they share its state, its limits and its usage rows.
  await pauseKey(sql, account, true)
  expect([await statuses(account.apiKey), await statuses(first.key)]).toEqual([
    [401, 401],
    [401, 401],
  ])
  await pauseKey(sql, account, false)
  expect(
    new Set((await sql`select key_id from usage where account_id = ${account.accountId}`).map(row => row.key_id)).size,
  ).toBe(1)

  await sql`update api_key set replaced_until = now() where key_id = ${account.keyId}`
  expect([await statuses(account.apiKey), await statuses(first.key)]).toEqual([
    [401, 401],
    [200, 200],
  ])
  const second = await rotate(1, 0)
  if (second.outcome !== 'replaced') throw new Error(second.outcome)
  expect(second.oldUntil).toBeNull()
  expect([await statuses(first.key), await statuses(second.key)]).toEqual([
    [401, 401],
    [200, 200],
  ])
  const third = await rotate(2, 1)
  expect(third.outcome).toBe('replaced')
  expect(await statuses(second.key)).toEqual([200, 200])
  expect([await endReplacedSecret(sql, account), await endReplacedSecret(sql, account)]).toEqual([true, false])
  expect(await statuses(second.key)).toEqual([401, 401])
})

test('of parallel rotations one replaces the secret and all return it; a later one that started from the old key is refused', async () => {
  const account = await knownAccount()
  const { sql } = running.database
  const rotate = () => replaceSecret(sql, running.secrets, { ...account, rotations: 0, overlapHours: 1 })
  const answers = await Promise.all(Array.from({ length: 20 }, rotate))
  expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]?.outcome).toBe('replaced')
  expect((await call(running.url, account)).status).toBe(200)
  await sql`update api_key set rotated_at = now() - interval '5 minutes' where key_id = ${account.keyId}`
  expect(await rotate()).toEqual({ outcome: 'changed' })
  await revokeKey(sql, account)
  expect(await rotate()).toEqual({ outcome: 'gone' })
  expect((await call(running.url, account)).status).toBe(401)
  expect(await sql`select replaced_hash from api_key where key_id = ${account.keyId}`).toEqual([
    { replaced_hash: null },
  ])
})

test('periods end at midnight in Vietnam; weeks on Sunday', () => {
  const at = (time: string) =>
    (['daily', 'weekly', 'monthly'] as const).map(period => nextPeriod(period, new Date(time)).toISOString())
  expect(at('2026-11-22T16:59:59Z')).toEqual([
    '2026-11-22T17:00:00.000Z',
    '2026-11-22T17:00:00.000Z',
    '2026-11-30T17:00:00.000Z',
  ])
  expect(at('2026-11-22T17:00:00Z')).toEqual([
    '2026-11-23T17:00:00.000Z',
    '2026-11-29T17:00:00.000Z',
    '2026-11-30T17:00:00.000Z',
  ])
  expect(at('2026-12-31T17:00:00Z')).toEqual([
    '2027-01-01T17:00:00.000Z',
    '2027-01-03T17:00:00.000Z',
    '2027-01-31T17:00:00.000Z',
  ])
})
