/** The playground: only signed-in users can make calls, only from our own pages; calls are billed, and capped per day. */

import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockAccount, unblockAccount } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { playgroundKey } from '../../src/accounts/playground-key.ts'
import { readSecretsInUse } from '../../src/accounts/rotate.ts'
import { codeOf, LANGUAGES } from '../../src/dashboard/assets/playground-code.js'
import { eventsOf, READERS } from '../../src/dashboard/assets/playground-reply.js'
import { PATHS, requestOf } from '../../src/dashboard/assets/playground-request.js'
import { parseSecretSet } from '../../src/lib/secrets.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readable, Visitor } from './visitor.ts'

type ChatFormat = 'chat_completions' | 'messages' | 'responses'
const FORMATS: readonly ChatFormat[] = ['chat_completions', 'messages', 'responses']
/** Runs a program without blocking this process, in which the gateway runs. */
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SECRETS = `1:${Buffer.alloc(32, 5).toString('base64')}`
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

let running: TestGateway
let owner: Visitor
let ownerId: number
let stranger: Visitor
beforeAll(async () => {
  running = await startTestGateway({
    environment: { LIMIT_PLAYGROUND_DAILY_VND_MAX: '100' },
    secrets: SECRETS,
  })
  owner = await newPerson('owner@example.com')
  stranger = await newPerson('stranger@example.com')
  ownerId = await accountOf('owner@example.com')
})
afterAll(() => running.close())

async function newPerson(email: string, amount = '50.000'): Promise<Visitor> {
  const person = new Visitor(running.url)
  await person.signUp(email)
  if (amount !== '') await person.topUp(amount)
  return person
}

async function accountOf(email: string): Promise<number> {
  const [row] = await running.database.sql`select account_id from account where email = ${email}`
  return Number(row?.account_id)
}

function ask(text: string, more: Record<string, unknown> = {}) {
  const turns = [{ role: 'user' as const, text, pictures: [] }]
  return requestOf({ kind: 'chat', format: 'messages', model: 'gpt-5.5', system: '', turns, parameters: {}, ...more })
}

/** Makes a call as the page's script does. */
function send(
  person: Visitor,
  { endpoint, body }: { endpoint: keyof typeof PATHS; body: object },
  {
    headers = {},
    signal = null,
    base = running.url,
  }: { headers?: Record<string, string>; signal?: AbortSignal | null; base?: string } = {},
): Promise<Response> {
  const given = { cookie: person.cookie, origin: base, 'content-type': 'application/json', ...headers }
  return fetch(`${base}/playground${PATHS[endpoint]}`, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    body: JSON.stringify(body),
    signal,
  })
}

async function codeIn(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

async function billOf(person: Visitor, response: Response) {
  await running.gateway.readiness.idle()
  const { html } = await person.get(`/playground/bill?call=${response.headers.get('x-request-id')}`)
  return JSON.parse(html) as { call: { status: number; cost: string; output: string } | null; spent: string }
}

async function textOf(response: Response, format: ChatFormat): Promise<string> {
  let text = ''
  for await (const event of eventsOf(response.body as ReadableStream<Uint8Array>)) {
    const step: { text?: string; error?: string } = READERS[format](event)
    if (step.error !== undefined) throw new Error(step.error)
    text += step.text ?? ''
  }
  return text
}

describe('who may make a call', () => {
  test('a call from another site is refused, whatever headers it sends', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${running.url}.evil.example` },
      { origin: '', 'sec-fetch-site': 'cross-site' },
      { origin: '', 'sec-fetch-site': 'none' },
      { origin: '' },
    ]
    for (const endpoint of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
      for (const headers of foreign) {
        const refused = await send(owner, { endpoint, body: ask('x').body }, { headers })
        expect([endpoint, headers, refused.status, await codeIn(refused)]).toEqual([
          endpoint,
          headers,
          403,
          'foreign_page',
        ])
      }
    }
    expect(await running.usage(ownerId)).toEqual([])
  })

  test('nobody is let in without a session: not by a key, nor by one that has ended or lacks its second factor', async () => {
    const { apiKey } = await running.account(10n ** 12n)
    const ended = await newPerson('ended@example.com')
    const { cookie } = ended
    await ended.post('/signout')
    ended.cookie = cookie
    const halfway = await newPerson('halfway@example.com')
    await running.database.sql`
      insert into totp (account_id, encryption_id, encryption_iv, ciphertext, last_step)
      select account_id, 1, decode(repeat('00', 12), 'hex'), '', 0 from account where email = 'halfway@example.com'`
    const visitors: [Visitor, Record<string, string>][] = [
      [halfway, {}],
      [new Visitor(running.url), {}],
      [new Visitor(running.url), { 'x-api-key': apiKey, authorization: `Bearer ${apiKey}` }],
      [ended, {}],
    ]
    for (const [visitor, headers] of visitors) {
      const refused = await send(visitor, ask('x'), { headers })
      expect([refused.status, await codeIn(refused)]).toEqual([401, 'authentication_failed'])
    }
  })

  test('a call’s bill is shown to the person who made it, and to nobody else', async () => {
    const response = await send(owner, ask('Xin chào'))
    await response.text()
    expect((await billOf(owner, response)).call).toMatchObject({ status: 200 })
    expect((await billOf(stranger, response)).call).toBeNull()
    expect((await owner.get('/playground/bill?call=nonsense')).html).toContain('"call":null')
    expect((await new Visitor(running.url).get('/playground/bill')).location).toMatch(/^\/signin/)
  })
})

describe('what a call returns', () => {
  test.each(FORMATS)('an answer streams in the format %s, with the system prompt and the parameters', async format => {
    const request = ask('sandbox:tokens=30 Xin chào', {
      format,
      system: 'Be brief.',
      parameters: { max_tokens: 200, temperature: 0.5, reasoning_effort: 'low', stop: ['ENDE'] },
      turns: [
        { role: 'user', text: 'Một', pictures: [PIXEL] },
        { role: 'assistant', text: 'Hai', pictures: [] },
        { role: 'user', text: 'sandbox:tokens=30 Ba', pictures: [] },
      ],
    })
    const response = await send(owner, request)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect((await textOf(response, format)).length).toBeGreaterThan(20)
    const { call, spent } = await billOf(owner, response)
    const row = (await running.usage(ownerId)).at(-1)
    expect(call).toMatchObject({ status: 200, output: String(row?.output_tokens) })
    expect(row).toMatchObject({ model: 'gpt-5.5', status: 200, streamed: true, estimated: false })
    expect(spent).toMatch(/^\d+,\d+\u00a0₫$/)
  })

  test('a refusal is shown in the words of the model, in each format', () => {
    const words = { text: 'I cannot help with that.' }
    const chat = { choices: [{ delta: { refusal: words.text } }] }
    expect(READERS.chat_completions(chat)).toMatchObject(words)
    expect(READERS.messages({ type: 'content_block_delta', delta: words })).toMatchObject(words)
    expect(READERS.responses({ type: 'response.refusal.delta', delta: words.text })).toMatchObject(words)
  })

  test('usage names the playground’s key, which the list of keys does not show', async () => {
    const { html } = await owner.get('/usage?by=key')
    expect(readable(html)).toContain(' playground ')
    expect((await owner.get('/usage.csv')).html).toMatch(/,playground,/)
    const [row] = await running.database.sql`
      select key_id, encode(key_hash, 'hex') as hash, ciphertext from api_key where account_id = ${ownerId}`
    expect(readable((await owner.get('/keys')).html)).not.toContain('playground')
    for (const path of [`/keys/${row?.key_id}`, `/keys/${row?.key_id}/show`, `/keys/${row?.key_id}/revoke`]) {
      const reply = path.endsWith(String(row?.key_id)) ? await owner.get(path) : await owner.post(path)
      expect([path, reply.status]).toEqual([path, 404])
    }
    // The playground's key has no secret, and nobody can use its stored hash as a key.
    expect(row?.ciphertext).toBeNull()
    const tried = await fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': row?.hash } })
    expect(tried.status).toBe(401)
    const peppers = parseSecretSet('KEY_PEPPERS', SECRETS)
    const used = await readSecretsInUse(running.database.sql, { service: 'svc', peppers, encryption: peppers })
    expect(used.withoutCopy).toBe(0)
  })

  test('images and speech work as for every client', async () => {
    const painter = await newPerson('painter@example.com')
    const image = { kind: 'image' as const, model: 'req/gpt-image-2', parameters: { size: '1024x1024' } }
    const drawn = await send(painter, ask('Hoa sen', image))
    expect(drawn.headers.get('x-svc-cost-vnd')).toBe('650')
    expect(((await drawn.json()) as { data: unknown[] }).data).toHaveLength(1)
    const speaker = await newPerson('speaker@example.com')
    const speech = { kind: 'speech' as const, model: 'req/gpt-4o-mini-tts', parameters: { voice: 'alloy' } }
    const spoken = await send(speaker, ask('Xin chào', speech))
    expect(spoken.headers.get('content-type')).toMatch(/^audio\//)
    expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(100)
    expect((await billOf(speaker, spoken)).call?.cost).toBe('1.350\u00a0₫')
  })
})

describe('what a call costs', () => {
  test('with an empty wallet a call is refused as for every client', async () => {
    const poor = await newPerson('poor@example.com', '')
    const refused = await send(poor, ask('x'))
    expect([refused.status, await codeIn(refused)]).toEqual([402, 'insufficient_balance'])
    expect(refused.headers.get('x-should-retry')).toBe('false')
  })

  test('a stream that is stopped is billed once, for what was sent', async () => {
    const person = await newPerson('stops@example.com')
    const accountId = await accountOf('stops@example.com')
    const stop = new AbortController()
    const response = await send(person, ask('sandbox:slow=50 sandbox:tokens=5000 Kể đi'), { signal: stop.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let received = ''
    while (!received.includes('text_delta')) received += new TextDecoder().decode((await reader.read()).value)
    stop.abort()
    await expect.poll(async () => (await billOf(person, response)).call?.status).toBe(499)
    const rows = await running.usage(accountId)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ status: 499, streamed: true, estimated: true })
    expect(rows[0]?.charged).toBeGreaterThan(0n)
    expect(await running.balance(accountId)).toBe(50_000_000_000n - (rows[0]?.charged as bigint))
  })

  test('the daily limit applies in every process, only to the playground, until the day is over', async () => {
    const { sql } = running.database
    const person = await newPerson('eager@example.com')
    const accountId = await accountOf('eager@example.com')
    const { key } = await person.createKey('own')
    const dear = ask('x', { model: 'req/gpt-5.5' })
    const first = await send(person, dear)
    await first.text()
    await running.gateway.readiness.idle()
    const { url: base } = await running.sibling()
    const second = await send(person, dear, { base })
    expect([second.status, await codeIn(second)]).toEqual([402, 'spend_cap_reached'])
    expect((await running.usage(accountId)).map(({ status }) => status)).toEqual([200, 402])
    expect(readable((await person.get('/playground')).html)).toMatch(/Spent here today: \d+ ₫ \/ 100 ₫/)
    const headers = { 'x-api-key': key }
    const byKey = await fetch(running.url + PATHS.messages, {
      method: 'POST',
      headers,
      body: JSON.stringify(ask('x').body),
    })
    expect([byKey.status, (await byKey.text()).length > 0]).toEqual([200, true])
    // Moves today's usage to yesterday, even across the end of a month.
    await sql`update usage_daily set day = day - 1 where account_id = ${accountId}`
    const next = await send(person, dear)
    expect([next.status, (await next.text()).length > 0]).toEqual([200, true])
    await running.gateway.readiness.idle()
    expect((await send(person, dear)).status).toBe(402)
  })

  test('many first calls at once share one key; a blocked account has none', async () => {
    const { sql } = running.database
    const { accountId } = await running.account(10n ** 12n)
    const given = { accountId, dailyVndMax: 100 }
    const peppers = parseSecretSet('KEY_PEPPERS', SECRETS)
    const found = await Promise.all(Array.from({ length: 8 }, () => playgroundKey(sql, { peppers }, given)))
    expect(new Set(found.map(key => key?.keyId)).size).toBe(1)
    expect(found[0]).toMatchObject({ state: 'active', walletEmpty: false })
    await blockAccount(sql, { accountId, by: COMMAND_LINE, reason: 'test' })
    expect(await playgroundKey(sql, { peppers }, given)).toMatchObject({ state: 'blocked' })
    await unblockAccount(sql, { accountId, by: COMMAND_LINE, reason: 'test' })
    expect(await playgroundKey(sql, { peppers }, given)).toMatchObject({ state: 'active' })
    const blocked = await running.account(10n ** 12n)
    await blockAccount(sql, { accountId: blocked.accountId, by: COMMAND_LINE, reason: 'test' })
    expect(await playgroundKey(sql, { peppers }, { ...given, accountId: blocked.accountId })).toBeNull()
  })
})

describe('the request as code', () => {
  const requests = [
    ...FORMATS.map(format =>
      ask('Nói \'xin chào\' và \\n "$KEY"', {
        format,
        system: 'Ngắn gọn',
        parameters: { max_tokens: 50, temperature: 0.5, stop: ['x'], top_k: 5, reasoning_effort: 'low' },
      }),
    ),
    ask('Hoa sen', { kind: 'image', model: 'req/gpt-image-2', parameters: { size: '1024x1024' } }),
    ask('Xin chào', { kind: 'speech', model: 'req/gpt-4o-mini-tts', parameters: { voice: 'alloy' } }),
  ]

  test.each(requests)(
    'the code for curl and TypeScript runs unchanged, and makes the same call: $endpoint',
    async request => {
      const { accountId, apiKey } = await running.account(10n ** 12n)
      await run('bash', ['-c', codeOf('curl', request, running.url)], {
        cwd: running.dataDir,
        env: { ...process.env, KEY: apiKey },
      })
      const code = codeOf('TypeScript', request, running.url).replace("apiKey: '$KEY'", `apiKey: '${apiKey}'`)
      // Node resolves packages from the project's root, while the program writes its files to the data folder.
      const program = `process.chdir(${JSON.stringify(running.dataDir)})\n${code}`
      const typescript = await run(process.execPath, ['--input-type=module-typescript', '-e', program], { cwd: ROOT })
      expect(typescript.stderr).toBe('')
      const [first, second] = await running.usage(accountId)
      expect(first).toMatchObject({ status: 200 })
      expect(second?.input_tokens).toBe(first?.input_tokens)
      expect(second?.streamed).toBe(first?.streamed)
    },
  )

  test('the code for Python parses and names the same model', () => {
    const python = spawnSync('python3', ['--version'])
    for (const request of requests) {
      const code = codeOf('Python', request, 'https://gateway.test')
      expect(code).toContain(`model="${request.body.model}"`)
      if (python.status !== 0) continue
      const parsed = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: code })
      expect([code, parsed.status]).toEqual([code, 0])
    }
  })

  test('an image appears in the code as a placeholder, without its bytes', () => {
    const picture = `data:image/png;base64,${'A'.repeat(1_000)}`
    for (const format of FORMATS) {
      const request = ask('', { format, turns: [{ role: 'user', text: 'Gì đây?', pictures: [picture] }] })
      for (const language of Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]) {
        const code = codeOf(language, request, 'https://gateway.test')
        expect([code.includes('BASE64_OF_YOUR_PICTURE'), code.includes('AAAAAAAA')]).toEqual([true, false])
      }
    }
  })
})
