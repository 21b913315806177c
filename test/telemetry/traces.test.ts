/**
 * Traces as a collector receives them: spans for the call and for each attempt, without content. Tracing failures do not affect
 * calls.
 */

import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openSpanSink } from '../../src/telemetry/spans.ts'
import { chatCall, goodMessage, goodMessagesStream, MESSAGES_START, textDelta } from '../support/chat.ts'
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts'
import { type Figures, scrape } from '../support/exposition.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  json,
  reset,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const ENTRY = 'claude-opus-5'
const ROOT = 'POST /v1/messages'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

let collector: Collector
let provider: ScriptedUpstream
let answers: Answer[] = []
let opened: TestGateway[] = []
/** Gateways that several tests share, keyed by the names of the headers that they forward. */
const shared = new Map<string, Promise<Started>>()

beforeAll(async () => {
  collector = await startCollector()
  provider = await startScriptedUpstream(() => answers.shift() ?? goodMessage)
})
afterEach(async () => {
  for (const running of opened) await running.close()
  opened = []
  answers = []
  collector.behaviour = 'take'
})
afterAll(async () => {
  for (const started of shared.values()) await (await started).running.close()
  await collector.close()
  await provider.close()
})

interface Started {
  readonly running: TestGateway
  readonly account: TestAccount
  /** The lines that the gateway has logged. */
  readonly lines: readonly { readonly msg: string; readonly traceId?: string }[]
  /** Makes a call, waits until it is settled, and returns its status. */
  call(headers?: Record<string, string>, extra?: object, model?: string): Promise<number>
  metrics(): Promise<Figures>
}

/** A gateway shared by tests that read no metrics and need no special settings. */
function share(forwardHeaders: string[] = []): Promise<Started> {
  const name = forwardHeaders.join()
  const started = shared.get(name) ?? open({}, forwardHeaders)
  shared.set(name, started)
  return started
}

/** A gateway that only this test uses. */
async function start(environment: Record<string, string> = {}, forwardHeaders: string[] = []): Promise<Started> {
  const started = await open(environment, forwardHeaders)
  opened.push(started.running)
  return started
}

async function open(environment: Record<string, string>, forwardHeaders: string[]): Promise<Started> {
  const lines: { readonly msg: string }[] = []
  const running = await startTestGateway({
    tables: changedTables({
      everyUpstream: { cooldown: { failures: 1000, baseMs: 0, maxMs: 0 } },
      upstreams: { anthropic: { forwardHeaders }, xai: { paths: { messages: '/v1/messages' } } },
      targets: { 'claude-sonnet-5': ['anthropic', 'xai'] },
    }),
    upstreams: { anthropic: provider.url, xai: provider.url },
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one',
      OTEL_SERVICE_NAME: 'billing',
      METRICS_PORT: '0',
      ...environment,
    },
    log: pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) }),
  })
  const account = await running.account(1_000_000n * 1_000_000n)
  return {
    running,
    account,
    lines,
    async call(headers = {}, extra = {}, model = ENTRY) {
      const response = await fetch(`${running.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': account.apiKey, ...headers },
        body: chatCall(model, extra),
      })
      await response.text()
      await running.gateway.readiness.idle()
      return response.status
    },
    metrics: () => scrape(running.gateway.metrics?.url ?? ''),
  }
}

/** The spans of a call's trace, in the order in which they ended. Waits for the call's own span, which ends last. */
async function spansOf(has: (root: ReceivedSpan) => boolean): Promise<readonly ReceivedSpan[]> {
  await collector.until(spans => spans.some(span => span.kind === 2 && has(span)))
  const root = collector.spans.find(span => span.kind === 2 && has(span)) as ReceivedSpan
  return collector.spans.filter(span => span.traceId === root.traceId)
}

const withRequestId = (id: string) => (span: ReceivedSpan) => span.attributes['gateway.request.id'] === id

test('a call is a span and each attempt a child of it, with OpenTelemetry’s attributes for generative AI', async () => {
  const { call, running, account, lines } = await share()
  answers = [json(529, { error: { message: 'overloaded' } })]
  expect(await call({ 'x-request-id': 'one' }, {}, 'claude-sonnet-5')).toBe(200)
  const [failed, served, root] = await spansOf(withRequestId('one'))
  const { hostname, port } = new URL(provider.url)
  const [row] = await running.database
    .sql`select call_id::text as id from usage where account_id = ${account.accountId}`
  expect(root).toMatchObject({
    name: ROOT,
    kind: 2,
    traceId: row?.id.replaceAll('-', ''),
    statusCode: 0,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/messages',
      'http.response.status_code': 200,
      'gateway.call.id': row?.id,
      'gateway.entry': 'claude-sonnet-5',
      'gateway.tries': 2,
      'gateway.streamed': false,
    },
    resource: { 'service.name': 'billing', 'service.version': '0.1.0' },
  })
  expect(root?.parentSpanId).toBeUndefined()
  const model = changedTables({}).entries.find(({ id }) => id === 'claude-sonnet-5')?.upstreams[0]?.model
  const common = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': model,
    'gen_ai.request.stream': false,
    'server.address': hostname,
    'server.port': Number(port),
  }
  expect(failed).toMatchObject({ name: `chat ${model}`, kind: 3, statusCode: 2, parentSpanId: root?.spanId })
  expect(failed?.attributes).toEqual({
    ...common,
    'gen_ai.provider.name': 'anthropic',
    'error.type': 'upstream_overloaded',
  })
  expect(served).toMatchObject({ name: `chat ${model}`, kind: 3, statusCode: 0, parentSpanId: root?.spanId })
  expect(served?.attributes).toEqual({
    ...common,
    'gen_ai.provider.name': 'xai',
    'gen_ai.response.model': model,
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 7,
  })
  for (const span of [failed, served]) {
    expect(BigInt(span?.startTimeUnixNano ?? 0) >= BigInt(root?.startTimeUnixNano ?? 0)).toBe(true)
    expect(BigInt(span?.endTimeUnixNano ?? 0) >= BigInt(span?.startTimeUnixNano ?? 0)).toBe(true)
  }
  expect(collector.headers.at(-1)?.['x-tenant']).toBe('one')
  expect(lines.findLast(({ msg }) => msg === 'call')?.traceId).toBe(root?.traceId)
})

test('a stream’s span has the time to its first chunk; a stream that ends early is an error of its provider', async () => {
  const { call } = await share()
  answers = [goodMessagesStream, [sse(), write(MESSAGES_START.join('') + textDelta('a')), reset()]]
  await call({ 'x-request-id': 'good' }, { stream: true })
  await call({ 'x-request-id': 'broken' }, { stream: true })
  const [good] = await spansOf(withRequestId('good'))
  expect(good?.attributes['gen_ai.response.time_to_first_chunk']).toEqual(expect.any(Number))
  expect(good?.attributes['gen_ai.usage.output_tokens']).toBe(25)
  const [broken, root] = await spansOf(withRequestId('broken'))
  expect([broken?.statusCode, broken?.attributes['error.type']]).toEqual([2, 'upstream_failed'])
  expect([root?.statusCode, root?.attributes['error.type']]).toEqual([2, 'upstream_failed'])
})

test("a call that is refused before any attempt only has its own span, as the client's error", async () => {
  const { call } = await share()
  expect(await call({ 'x-request-id': 'refused' }, { max_tokens: 'many' })).toBe(400)
  const spans = await spansOf(withRequestId('refused'))
  expect(spans.map(({ name, statusCode }) => [name, statusCode])).toEqual([[ROOT, 0]])
  expect(spans[0]?.attributes['error.type']).toBe('invalid_request')
})

test('no span contains any part of a prompt, a reply or a key', async () => {
  const { call, account } = await share()
  answers = [json(400, { error: { message: 'a secret prompt is not allowed' } })]
  await call({ 'x-request-id': 'refused-there' }, { system: 'a secret prompt' })
  await call({ 'x-request-id': 'last' }, { metadata: { user_id: 'somebody' } }, 'a secret prompt as a name')
  await spansOf(withRequestId('last'))
  const text = collector.bodies.join('\n')
  for (const secret of [
    'a secret prompt',
    'Xin chào',
    'somebody',
    account.apiKey,
    account.email,
    'upstream-secret-1',
  ]) {
    expect(text).not.toContain(secret)
  }
})

test("the client's trace continues, but is not passed on to providers that must not get it", async () => {
  const { call } = await share()
  await call({ traceparent: `00-${TRACE}-${PARENT}-01`, 'x-request-id': 'traced' })
  expect(provider.requests.at(-1)?.headers.traceparent).toBeUndefined()
  const spans = await spansOf(withRequestId('traced'))
  expect(spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE])
  expect(spans.at(-1)?.parentSpanId).toBe(PARENT)
})

test('a provider that may have the trace gets the span of its attempt', async () => {
  const { call } = await share(['traceparent'])
  await call({ traceparent: `00-${TRACE}-${PARENT}-01`, 'x-request-id': 'passed' })
  const sent = provider.requests.at(-1)?.headers.traceparent
  const spans = await spansOf(withRequestId('passed'))
  expect(sent).toBe(
    `00-${TRACE}-${spans.find(({ kind, parentSpanId }) => kind === 3 && parentSpanId === spans.at(-1)?.spanId)?.spanId}-01`,
  )
})

test.each([
  ['with an invalid version', `ff-${TRACE}-${PARENT}-01`],
  ['without a trace', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['without a span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['with more parts than its version has', `00-${TRACE}-${PARENT}-01-more`],
  ['that is something else', 'a secret prompt'],
])('a traceparent %s begins a trace of its own', async (_, traceparent) => {
  const { call } = await share(['traceparent'])
  await call({ traceparent })
  expect(provider.requests.at(-1)?.headers.traceparent).toMatch(/^00-(?!4bf92f)[0-9a-f]{32}-[0-9a-f]{16}-01$/)
})

test('a trace that its client does not record, or that is not sampled, is not recorded', async () => {
  const { call, metrics, lines } = await start({}, ['traceparent'])
  await call({ traceparent: `00-${TRACE}-${PARENT}-00` })
  expect(provider.requests.at(-1)?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  expect((await metrics()).sum('gateway_spans_waiting')).toBe(0)
  const none = await start({ OTEL_TRACES_SAMPLER_ARG: '0' })
  await none.call()
  const all = await none.metrics()
  expect([all.sum('gateway_spans_waiting'), all.sum('gateway_spans_total')]).toEqual([0, 0])
  const called = [...lines, ...none.lines].filter(({ msg }) => msg === 'call')
  expect(called.map(({ traceId }) => traceId)).toEqual([undefined, undefined])
})

test('if the collector refuses spans, they are lost, and no call fails', async () => {
  collector.behaviour = 'refuse'
  const { call, running, metrics, lines } = await start()
  expect(await call()).toBe(200)
  const told = () => lines.filter(({ msg }) => msg === 'the trace collector rejects spans; they are lost')
  await expect.poll(told).toHaveLength(1)
  expect(await call()).toBe(200)
  await running.gateway.stop()
  await expect(metrics()).rejects.toThrow()
  expect(told()).toHaveLength(1)
})

test('a collector that is not responding delays no call; surplus spans are dropped and counted, and a stop does not wait', async () => {
  collector.behaviour = 'hang'
  const { call, running, metrics } = await start({ LIMIT_SPANS_WAITING_MAX: '4' })
  for (let count = 0; count < 10; count++) expect(await call()).toBe(200)
  const counted = await metrics()
  const [waiting, dropped] = [
    counted.sum('gateway_spans_waiting'),
    counted.sum('gateway_spans_total', { outcome: 'dropped' }),
  ]
  expect(waiting).toBeLessThanOrEqual(4)
  // Of the 20 spans, up to four wait, and one batch of up to four may be in flight.
  expect(dropped).toBeGreaterThanOrEqual(20 - 4 - 4)
  expect(counted.sum('gateway_calls_total', { status: '2xx' })).toBe(10)
  await running.gateway.stop()
})

test('a stop sends all waiting spans, however many batches they need', async () => {
  const sink = openSpanSink({
    url: `${collector.url}/v1/traces`,
    headers: {},
    attributes: {},
    waitingMax: 3000,
    report() {},
  })
  const span = { kind: 'client', parent: null, startMs: 1, endMs: 2.5, attributes: {}, failed: false } as const
  for (let index = 0; index < 4001; index++) {
    sink.add({ ...span, name: 'waiting', traceId: TRACE, spanId: index.toString(16).padStart(16, '0') })
  }
  // A batch of 512 is already in flight.
  expect(sink.metrics()).toEqual({ waiting: 3000, sent: 0, failed: 0, dropped: 489 })
  await sink.close()
  expect(sink.metrics()).toEqual({ waiting: 0, sent: 3512, failed: 0, dropped: 489 })
  const received = collector.spans.filter(({ name }) => name === 'waiting')
  expect(new Set(received.map(({ spanId }) => spanId)).size).toBe(3512)
  expect(received[0]).toMatchObject({ startTimeUnixNano: '1000000', endTimeUnixNano: '2500000' })
})

test('calls succeed if nothing listens at the collector’s address', async () => {
  const { call, metrics } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  for (let count = 0; count < 3; count++) expect(await call()).toBe(200)
  expect((await metrics()).sum('gateway_calls_total', { status: '2xx' })).toBe(3)
})
