/** What a scrape returns after calls of every kind: figures that match the calls, a bounded set of labels, no content. */

import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signWebhook } from '../../src/alerts/webhook-secrets.ts'
import { audit } from '../../src/audit/audit.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { Histogram, histogram, mergeExpositions, writeExposition } from '../../src/lib/metrics.ts'
import { DatabaseMetrics } from '../../src/telemetry/database.ts'
import { Visitor } from '../dashboard/visitor.ts'
import { chatCall, goodMessage, MESSAGE, MESSAGES_START, textDelta } from '../support/chat.ts'
import { Figures, parseExposition, scrape } from '../support/exposition.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  type Answer,
  end,
  json,
  reset,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const ENTRY = 'claude-opus-5'
const LABELS = { entry: ENTRY, upstream: 'anthropic', endpoint: 'messages' }
/** A model that the chat endpoints do not serve. */
const IMAGES = TABLES.entries.find(({ endpoints }) => endpoints[0] === 'images_generations')?.id ?? ''
const BANK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const CANARY = 'a secret prompt'

describe('a gateway with metrics', () => {
  let provider: ScriptedUpstream
  let answers: Answer[] = []
  let running: TestGateway
  let account: TestAccount
  let url: string

  beforeAll(async () => {
    provider = await startScriptedUpstream(() => answers.shift() ?? goodMessage)
    running = await startTestGateway({
      tables: changedTables({
        everyUpstream: { cooldown: { failures: 1000, baseMs: 60_000, maxMs: 60_000 } },
        upstreams: { xai: { paths: { messages: '/v1/messages' } } },
        targets: { 'claude-sonnet-5': ['anthropic', 'xai'] },
      }),
      upstreams: { anthropic: provider.url, xai: provider.url },
      environment: { METRICS_PORT: '0', BANK_WEBHOOK_SECRET: BANK_SECRET },
    })
    account = await running.account(1_000_000n * 1_000_000n)
    url = running.gateway.metrics?.url ?? ''
  })
  afterAll(async () => {
    await running.close()
    await provider.close()
  })

  async function post(body: string, signal?: AbortSignal, path = '/v1/messages'): Promise<Response> {
    const headers = { 'x-api-key': account.apiKey, 'x-request-id': CANARY.replaceAll(' ', '-') }
    const response = await fetch(running.url + path, { method: 'POST', headers, body, ...(signal && { signal }) })
    return new Response(await response.text(), response)
  }

  /**
   * Returns how much each metric, summed over the samples with these labels, rises while `work` runs and its calls are settled.
   */
  async function rises(
    sums: readonly (readonly [name: string, labels?: Readonly<Record<string, string>>])[],
    work: () => Promise<unknown>,
  ): Promise<number[]> {
    const before = await scrape(url)
    await work()
    await running.gateway.readiness.idle()
    const after = await scrape(url)
    return sums.map(([name, labels]) => after.sum(name, labels) - sumOrZero(before, name, labels))
  }

  /** Sends the text on a new connection, and resolves when the gateway has closed it. */
  function sendRaw(text: string): Promise<void> {
    const { hostname, port } = new URL(running.url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text))
      socket
        .resume()
        .on('close', () => resolve())
        .on('error', reject)
    })
  }

  function sumOrZero(figures: Figures, name: string, labels?: Readonly<Record<string, string>>): number {
    return figures.families.has(name.replace(/_(bucket|sum|count)$/, '')) || figures.families.has(name)
      ? figures.sum(name, labels)
      : 0
  }

  test('counts a call with the same tokens, money and time as its usage row', async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 7 }
    answers = [json(200, { ...MESSAGE, usage })]
    const figures = await rises(
      [
        ['gateway_calls_total', { ...LABELS, status: '2xx' }],
        ['gateway_call_duration_seconds_count', { ...LABELS, status: '2xx' }],
        ['gateway_call_duration_seconds_bucket', { ...LABELS, status: '2xx', le: '+Inf' }],
        ['gateway_first_byte_seconds_count', { ...LABELS, status: '2xx' }],
        ['gateway_input_tokens_total', { entry: ENTRY, upstream: 'anthropic' }],
        ['gateway_cached_input_tokens_total', { entry: ENTRY }],
        ['gateway_output_tokens_total', { entry: ENTRY }],
        ['gateway_upstream_tries_total', { upstream: 'anthropic' }],
        ['gateway_upstream_failures_total'],
        ['gateway_hold_requests_total', { outcome: 'admitted' }],
        ['gateway_hold_batch_calls_sum'],
        ['gateway_settle_batch_calls_sum'],
        ['gateway_uncollected_vnd_total'],
        ['gateway_errors_total'],
      ],
      () => post(chatCall(ENTRY)),
    )
    expect(figures).toEqual([1, 1, 1, 1, 40, 30, 7, 1, 0, 1, 1, 1, 0, 0])
    const row = (await running.usage(account.accountId)).at(-1)
    expect([row?.input_tokens, row?.output_tokens]).toEqual([40, 7])
    const charged = (await scrape(url)).sum('gateway_charged_vnd_total', { entry: ENTRY })
    expect(charged).toBeCloseTo(Number(row?.charged) / 1e6, 9)
    const [written] = await running.database.sql`
      select sum(upstream_cost_micro_vnd)::text as cost from usage where entry_id = ${ENTRY}`
    const cost = (await scrape(url)).sum('gateway_upstream_cost_vnd_total', { entry: ENTRY, upstream: 'anthropic' })
    expect(cost).toBeGreaterThan(charged)
    expect(cost).toBeCloseTo(Number(written?.cost) / 1e6, 6)
    expect((await scrape(url)).sum('gateway_upstream_cost_unknown_total', { entry: ENTRY })).toBe(0)
  })

  test('counts what a wallet could not pay separately from what it paid', async () => {
    const poor = await running.account(100_000n)
    const [charged, uncollected] = await rises(
      [['gateway_charged_vnd_total'], ['gateway_uncollected_vnd_total', { entry: ENTRY }]],
      () =>
        fetch(`${running.url}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': poor.apiKey },
          body: chatCall(ENTRY),
        }).then(reply => reply.text()),
    )
    expect(charged).toBeCloseTo(0.1, 9)
    expect(uncollected).toBeCloseTo((17 * 6500 - 100_000) / 1e6, 9)
  })

  test('a call that fails over counts for the upstream that served it, and its fault for the upstream that failed', async () => {
    answers = [json(529, { error: { message: 'overloaded' } }), goodMessage]
    const figures = await rises(
      [
        ['gateway_calls_total', { entry: 'claude-sonnet-5', upstream: 'xai', status: '2xx' }],
        ['gateway_calls_total', { entry: 'claude-sonnet-5', upstream: 'anthropic' }],
        ['gateway_failovers_total', { upstream: 'anthropic' }],
        ['gateway_upstream_failures_total', { upstream: 'anthropic', class: 'upstream_overloaded' }],
        ['gateway_errors_total'],
      ],
      () => post(chatCall('claude-sonnet-5')),
    )
    expect(figures).toEqual([1, 0, 1, 1, 0])
  })

  test('a stream that ends early counts as a failure of its upstream and as an error of the call', async () => {
    answers = [[sse(), write(MESSAGES_START.join('') + textDelta('a')), reset()]]
    const figures = await rises(
      [
        ['gateway_calls_total', { ...LABELS, status: '5xx' }],
        ['gateway_upstream_failures_total', { upstream: 'anthropic', class: 'broken_stream' }],
        ['gateway_errors_total', { code: 'upstream_failed' }],
      ],
      () => post(chatCall(ENTRY, { stream: true })),
    )
    expect(figures).toEqual([1, 1, 1])
  })

  test('shows a stream, its hold and its call while they are open; a client that leaves counts under 499', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    answers = [[sse(), write(MESSAGES_START.join('') + textDelta('a')), until(gate), end()]]
    const leaving = new AbortController()
    const response = await fetch(`${running.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: chatCall(ENTRY, { stream: true }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    const figures = await scrape(url)
    const shown = ['gateway_streams_open', 'gateway_calls_in_flight', 'gateway_holds_open'].map(name =>
      figures.sum(name),
    )
    expect(shown).toEqual([1, 1, 1])
    expect(figures.sum('gateway_upstream_calls_in_flight', { upstream: 'anthropic' })).toBe(1)
    expect(figures.sum('gateway_oldest_hold_age_seconds')).toBeGreaterThan(0)
    expect(await rises([['gateway_calls_total', { status: '499' }]], async () => leaving.abort())).toEqual([1])
    open()
    const after = await scrape(url)
    expect(
      ['gateway_streams_open', 'gateway_calls_in_flight', 'gateway_holds_open'].map(name => after.sum(name)),
    ).toEqual([0, 0, 0])
  })

  test('counts each error that a client gets once, on every route and for input that never becomes a request', async () => {
    const codes = [
      'malformed_json',
      'authentication_failed',
      'route_not_found',
      'method_not_allowed',
      'wrong_endpoint',
      'invalid_request',
    ]
    const counted = await rises(
      [...codes.map(code => ['gateway_errors_total', { code }] as const), ['gateway_errors_total']],
      async () => {
        await post('{')
        await fetch(`${running.url}/v1/messages`, { method: 'POST', body: '{}' })
        await fetch(`${running.url}/v1/nothing`, { method: 'POST' })
        await fetch(`${running.url}/v1/messages`)
        await post(chatCall(IMAGES))
        await fetch(`${running.url}/v1/models`)
        await sendRaw('NOT HTTP\r\n\r\n')
      },
    )
    expect(counted).toEqual([1, 2, 1, 1, 1, 1, 7])
  })

  test('counts pages that cannot be shown, by whether the fault is ours or the database’s', async () => {
    const { sql } = running.database
    const visitor = new Visitor(running.url)
    const signIn = async () => (await visitor.post('/signin', { email: 'ann@example.com', password: 'a b c d' })).status
    const counted = await rises(
      [
        ['gateway_pages_failed_total', { status: '500' }],
        ['gateway_pages_failed_total', { status: '503' }],
      ],
      async () => {
        await sql`alter table account rename to account_away`
        expect(await signIn()).toBe(500)
        await sql`alter table account_away rename to account`
        await sql.begin(async transaction => {
          await transaction`lock table account in access exclusive mode`
          expect(await signIn()).toBe(503)
        })
      },
    )
    expect(counted).toEqual([1, 1])
  })

  test('counts rejections that nothing handles', async () => {
    const counted = await rises([['gateway_unhandled_rejections_total']], async () => {
      process.emit('uncaughtExceptionMonitor', new Error('lost'), 'unhandledRejection')
      process.emit('uncaughtExceptionMonitor', new Error('fatal'), 'uncaughtException')
    })
    expect(counted).toEqual([1])
  })

  test('counts bank notifications that are refused', async () => {
    const counted = await rises(
      [['gateway_bank_notifications_total', { outcome: 'notification_refused' }], ['gateway_errors_total']],
      () => fetch(`${running.url}/webhooks/bank/signed`, { method: 'POST', body: '{}' }),
    )
    expect(counted).toEqual([1, 1])
  })

  test('counts bank transactions that are reported again with another amount', async () => {
    const notify = (amount_vnd: number) => {
      const transaction = { id: 'twice', account_number: '1', amount_vnd, direction: 'in', memo: '' }
      const body = JSON.stringify({ transactions: [transaction] })
      const [id, timestamp] = ['notification', String(Math.floor(Date.now() / 1000))]
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signWebhook([BANK_SECRET], { id, timestamp, body }),
      }
      return fetch(`${running.url}/webhooks/bank/signed`, { method: 'POST', headers, body })
    }
    const codes = ['unmatched', 'conflict', 'undecided'].map(
      code => ['gateway_payment_events_total', { code }] as const,
    )
    expect(await rises(codes, () => notify(50_000))).toEqual([1, 0, 0])
    expect(await rises(codes, () => notify(60_000))).toEqual([0, 1, 0])
  })

  test('names that are not in the catalogue create no labels', async () => {
    const series = async () => (await scrape(url)).families.get('gateway_calls_total')?.samples.length
    const paint = (name: string) =>
      post(JSON.stringify({ model: name, prompt: 'x' }), undefined, '/v1/images/generations')
    await paint('nothing-0')
    const before = await series()
    for (let index = 1; index <= 20; index++) await paint(`nothing-${index}`)
    await running.gateway.readiness.idle()
    expect(await series()).toBe(before)
    expect((await scrape(url)).sum('gateway_calls_total', { entry: 'none', upstream: 'none' })).toBeGreaterThanOrEqual(
      21,
    )
  })

  test('contains no prompt, key, id or address', async () => {
    await post(chatCall(`${CANARY} as a name`))
    const text = await (await fetch(url)).text()
    for (const secret of [CANARY, 'secret', account.apiKey, account.email, 'upstream-secret', 'req_', provider.url]) {
      expect(text).not.toContain(secret)
    }
  })

  test('the public port has no metrics, and the port of the metrics has nothing else', async () => {
    expect((await fetch(`${running.url}/metrics`)).status).toBe(404)
    const root = url.replace('/metrics', '')
    const statuses = [`${root}/`, `${root}/healthz`, `${root}/v1/models`].map(async each => (await fetch(each)).status)
    expect(await Promise.all(statuses)).toEqual([404, 404, 404])
    expect((await fetch(url, { method: 'POST', body: 'a' })).status).toBe(405)
    const head = await fetch(`${url}?a=b`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  })

  test('has figures of the process', async () => {
    const figures = await scrape(url)
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_open_fds',
      'nodejs_heap_size_used_bytes',
      'nodejs_active_resources',
    ]) {
      expect([name, figures.sum(name) > 0]).toEqual([name, true])
    }
    expect(figures.sum('gateway_info', { catalogue: changedTables({}).settings.digest })).toBe(1)
    const pools = figures.families.get('gateway_database_connections_max')?.samples.map(({ labels }) => labels.pool)
    expect(pools).toEqual(expect.arrayContaining(['gateway', 'gateway pages', 'gateway holds', 'gateway keys']))
  })
})

test('without METRICS_PORT there are no metrics', async () => {
  const running = await startTestGateway()
  expect(running.gateway.metrics).toBe(null)
  await running.close()
})

describe('figures from the database', () => {
  test('show old holds, and the audit’s differences', async () => {
    const database = await createTestDatabase()
    const databaseMetrics = new DatabaseMetrics({ url: database.url, report: () => {}, everyMs: 0, auditEveryMs: 0 })
    const { sql } = database
    await sql`insert into wallet (account_id, balance_micro_vnd, held_micro_vnd, seq) values (1, 5, 5, 0)`
    await databaseMetrics.refresh()
    await databaseMetrics.audit()
    const figures = new Figures(writeExposition(databaseMetrics.families()))
    expect(figures.sum('gateway_database_holds')).toBe(0)
    expect(figures.sum('gateway_transfers_unmatched')).toBe(0)
    expect(figures.sum('gateway_audit_differences', { rule: 'balance' })).toBe(1)
    expect(figures.sum('gateway_audit_differences', { rule: 'held' })).toBe(1)
    expect(figures.sum('gateway_audit_differences')).toBe(2)
    expect(figures.sum('gateway_audit_timestamp_seconds')).toBeGreaterThan(1_700_000_000)
    await databaseMetrics.close()
    await database.drop()
  })

  test('show the last audit of any process or command: after a restart, and until the next audit', async () => {
    const { url, sql, drop } = await createTestDatabase()
    const processes = [1, 2].map(() => new DatabaseMetrics({ url, report: () => {}, everyMs: 0, auditEveryMs: 0 }))
    const found = () =>
      Promise.all(
        processes.map(async each => {
          await each.refresh()
          return new Figures(writeExposition(each.families())).sum('gateway_audit_differences')
        }),
      )
    await sql`insert into wallet (account_id, balance_micro_vnd, held_micro_vnd, seq) values (1, 5, 5, 0)`
    await processes[0]?.audit()
    expect(await found()).toEqual([2, 2])
    await sql`delete from wallet`
    await audit(sql, { timeoutMs: 60_000 })
    expect(await found()).toEqual([0, 0])
    await Promise.all(processes.map(each => each.close()))
    await drop()
  })

  test('keep their last values while the database is down, with one line in the log', async () => {
    const reported: string[] = []
    const databaseMetrics = new DatabaseMetrics({
      url: 'postgres://nobody@127.0.0.1:1/nothing',
      report: ({ message }) => reported.push(message),
      everyMs: 0,
      auditEveryMs: 0,
    })
    await databaseMetrics.refresh()
    await databaseMetrics.refresh()
    expect(databaseMetrics.families().map(({ name, samples }) => [name, samples.length])).toContainEqual([
      'gateway_database_holds',
      0,
    ])
    expect(reported).toEqual(['cannot read the ledger for the metrics; keeping the last values'])
    await databaseMetrics.close()
  })
})

describe('the text of a scrape', () => {
  test('a histogram counts a value in its bucket and in all above', () => {
    const seconds = new Histogram([0.1, 1])
    for (const value of [0.05, 0.1, 0.5, 3]) seconds.observe(value)
    expect(writeExposition([histogram('a_seconds', 'A.', seconds.samples({ of: 'x' }))])).toBe(
      [
        '# HELP a_seconds A.',
        '# TYPE a_seconds histogram',
        'a_seconds_bucket{of="x",le="0.1"} 2',
        'a_seconds_bucket{of="x",le="1"} 3',
        'a_seconds_bucket{of="x",le="+Inf"} 4',
        'a_seconds_sum{of="x"} 3.65',
        'a_seconds_count{of="x"} 4',
        '',
      ].join('\n'),
    )
  })

  test('values of labels are escaped', () => {
    const text = writeExposition([
      { name: 'a', help: 'b\\\n', type: 'gauge', samples: [{ labels: { l: 'a"\\\n' }, value: 1 }] },
    ])
    expect(parseExposition(text).get('a')?.samples).toEqual([{ name: 'a', labels: { l: 'a"\\\n' }, value: 1 }])
  })

  test('the texts of several workers become one, with a label for each worker', () => {
    const seconds = new Histogram([1])
    seconds.observe(0.5)
    const family = (value: number) => [
      { name: 'a', help: 'A.', type: 'gauge' as const, samples: [{ labels: {}, value }] },
      histogram('b_seconds', 'B.', seconds.samples()),
    ]
    const merged = mergeExpositions([1, 2].map(worker => writeExposition(family(worker), { worker: String(worker) })))
    const figures = new Figures(merged)
    expect(figures.families.get('a')?.samples).toEqual([
      { name: 'a', labels: { worker: '1' }, value: 1 },
      { name: 'a', labels: { worker: '2' }, value: 2 },
    ])
    expect(figures.sum('b_seconds_count')).toBe(2)
    expect(figures.sum('b_seconds_bucket', { worker: '2', le: '1' })).toBe(1)
  })
})
