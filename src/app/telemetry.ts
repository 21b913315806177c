/** Opens one gateway's metrics and traces, and serves the metrics to operators. */

import type { DeliveryCounts } from '../alerts/delivery-counts.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Readiness } from '../http/readiness.ts'
import type { RunningLedger } from '../ledger/ledger.ts'
import { LEDGER_EVENTS, type LedgerEvent } from '../ledger/options.ts'
import type { QueueLoad } from '../lib/batcher.ts'
import type { PoolLoad } from '../lib/database.ts'
import type { Logger } from '../lib/log.ts'
import type { MailMetrics } from '../lib/mail.ts'
import { counter, type Family, gauge, type Labels, writeExposition } from '../lib/metrics.ts'
import type { Maintenance } from '../operations/maintenance.ts'
import type { UnknownModels } from '../operations/unknown-models.ts'
import { PAYMENT_EVENTS, type PaymentEvent } from '../payments/types.ts'
import type { CallObserver, CallTracer } from '../pipeline/call.ts'
import { NO_OBSERVER, NO_TRACER } from '../pipeline/observer.ts'
import type { Pinger } from '../pipeline/pinger.ts'
import { alertFamilies } from '../telemetry/alerts.ts'
import { CallMetrics } from '../telemetry/calls.ts'
import { DatabaseMetrics } from '../telemetry/database.ts'
import { ledgerFamilies } from '../telemetry/ledger.ts'
import { startMetricsServer } from '../telemetry/metrics-server.ts'
import { ProcessMetrics } from '../telemetry/process.ts'
import { queueFamilies } from '../telemetry/queues.ts'
import { type RequestMetrics, requestFamilies } from '../telemetry/requests.ts'
import type { SpanSink } from '../telemetry/spans.ts'
import { Traces } from '../telemetry/traces.ts'
import { upstreamFamilies } from '../telemetry/upstreams.ts'
import type { UpstreamRegistry } from '../upstream/registry.ts'
import type { Config } from './config.ts'

/** Parts of a running gateway that report metrics. */
export interface Watched {
  readonly catalogue: Catalogue
  readonly ledger: RunningLedger
  readonly upstreams: UpstreamRegistry
  readonly readiness: Readiness
  readonly pinger: Pinger
  readonly maintenance: () => Maintenance
  readonly mails: () => MailMetrics
  readonly deliveries: DeliveryCounts
  readonly unknownModels: Pick<UnknownModels, 'calls' | 'unnamed'>
  readonly requests: () => RequestMetrics
  readonly pools: () => readonly PoolLoad[]
  readonly queues: () => readonly QueueLoad[]
}

export interface Metrics {
  /** URL of the metrics; null in a worker, because its supervisor serves the metrics of all workers. */
  readonly url: string | null
  /** Renders the metrics for one scrape. */
  text(): Promise<string>
}

export interface TelemetryOptions {
  readonly config: Config
  readonly databaseUrl: string
  readonly spoolDir: string
  readonly version: string
  /** The service's name in traces unless the environment sets another. */
  readonly serviceName: string
  readonly log: Logger
}

export class Telemetry {
  readonly #options: TelemetryOptions
  readonly #calls: CallMetrics | null
  readonly #ledgerEvents = new Map<string, number>(LEDGER_EVENTS.map(code => [code, 0]))
  readonly #paymentEvents = new Map<string, number>(PAYMENT_EVENTS.map(code => [code, 0]))
  readonly #closers: (() => unknown)[] = []
  readonly #spans: SpanSink | null
  readonly tracer: CallTracer

  private constructor(options: TelemetryOptions, spans: SpanSink | null) {
    const { metrics, traces } = options.config
    this.#options = options
    this.#calls = metrics === null ? null : new CallMetrics()
    this.#spans = spans
    this.tracer = spans === null ? NO_TRACER : new Traces({ sink: spans, ratio: traces?.ratio ?? 1 })
  }

  /** Opens metrics and traces. Tracing libraries are loaded only when tracing is on. */
  static async open(options: TelemetryOptions): Promise<Telemetry> {
    const { config, version, log, serviceName } = options
    if (config.traces === null) return new Telemetry(options, null)
    const { openSpanSink } = await import('../telemetry/spans.ts')
    const { url, headers, attributes } = config.traces
    const spans = openSpanSink({
      url,
      headers,
      attributes: {
        ...attributes,
        'service.name': config.traces.serviceName ?? serviceName,
        'service.version': version,
        ...(config.worker === null ? {} : { 'gateway.worker': String(config.worker) }),
      },
      waitingMax: config.limits.spansWaitingMax,
      report: ({ level, message, cause }) => log[level]({ cause }, message),
    })
    return new Telemetry(options, spans)
  }

  get observer(): CallObserver {
    return this.#calls ?? NO_OBSERVER
  }

  ledgerReported({ code }: LedgerEvent): void {
    this.#ledgerEvents.set(code, (this.#ledgerEvents.get(code) ?? 0) + 1)
  }

  paymentReported({ code }: PaymentEvent): void {
    this.#paymentEvents.set(code, (this.#paymentEvents.get(code) ?? 0) + 1)
  }

  /**
   * Serves the metrics; null when they are off. A worker does not listen itself: its supervisor collects and serves its
   * metrics.
   */
  async serve(watched: Watched): Promise<Metrics | null> {
    const { config, databaseUrl, spoolDir, log } = this.#options
    const calls = this.#calls
    if (config.metrics === null || calls === null) return null
    const { host, port, auditMinutes, auditFullMinutes } = config.metrics
    const report = ({ level, message, cause }: { level: 'error' | 'warn'; message: string; cause?: unknown }) =>
      log[level]({ cause }, message)
    const processMetrics = new ProcessMetrics()
    const databaseMetrics = new DatabaseMetrics({
      url: databaseUrl,
      report,
      auditEveryMs: auditMinutes * 60_000,
      auditFullEveryMs: auditFullMinutes * 60_000,
    })
    this.#closers.push(
      () => processMetrics.close(),
      () => databaseMetrics.close(),
    )
    const labels: Labels = config.worker === null ? {} : { worker: String(config.worker) }
    const text = async () => {
      const state = watched.ledger.metrics()
      const ledger = await ledgerFamilies({
        state,
        available: watched.ledger.available,
        events: this.#ledgerEvents,
        pools: watched.pools(),
        spoolDir,
      })
      const families = [
        ...this.#serviceFamilies(watched),
        ...this.#spanFamilies(),
        ...alertFamilies(watched.deliveries),
        ...queueFamilies([...state.queues, ...watched.queues(), this.#spanQueue()]),
        ...requestFamilies(watched.requests()),
        ...calls.families(),
        ...upstreamFamilies(watched.upstreams.status()),
        ...ledger,
        ...databaseMetrics.families(),
        ...processMetrics.families(),
      ]
      return writeExposition(families, labels)
    }
    if (config.worker !== null) return { url: null, text }
    const server = await startMetricsServer({ host, port, text, report })
    this.#closers.unshift(() => server.close())
    return { url: server.url, text }
  }

  async close(): Promise<void> {
    await this.#spans?.close()
    for (const close of this.#closers.splice(0)) await close()
  }

  #spanQueue(): QueueLoad {
    const { spansWaitingMax } = this.#options.config.limits
    return { name: 'spans', items: this.#spans?.metrics().waiting ?? 0, itemsMax: spansWaitingMax }
  }

  #spanFamilies(): readonly Family[] {
    const { waiting, sent, failed, dropped } = this.#spans?.metrics() ?? { waiting: 0, sent: 0, failed: 0, dropped: 0 }
    return [
      gauge('gateway_spans_waiting', 'Spans waiting for the trace collector.', waiting),
      counter('gateway_spans_total', 'Spans by outcome.', [
        [{ outcome: 'sent' }, sent],
        [{ outcome: 'failed' }, failed],
        [{ outcome: 'dropped' }, dropped],
      ]),
    ]
  }

  #serviceFamilies({ catalogue, readiness, pinger, maintenance, mails, unknownModels }: Watched): readonly Family[] {
    const { waiting, sent, failed } = mails()
    const facts = { version: this.#options.version, catalogue: catalogue.settings.digest, node: process.version }
    return [
      gauge('gateway_info', 'Always 1; the labels describe what is running.', [[facts, 1]]),
      gauge(
        'gateway_draining',
        '1 while the process lets calls in flight finish before it stops.',
        readiness.draining() ? 1 : 0,
      ),
      gauge('gateway_maintenance', '1 while new calls are refused by an operator.', maintenance().enabled ? 1 : 0),
      gauge('gateway_calls_in_flight', 'Calls and bank notifications in progress.', readiness.callsInFlight),
      gauge('gateway_streams_open', 'Event streams that have begun and not ended.', pinger.watched),
      gauge('gateway_mails_waiting', 'Emails being sent to the mail server.', waiting),
      counter('gateway_mails_total', 'Emails by outcome.', [
        [{ outcome: 'sent' }, sent],
        [{ outcome: 'failed' }, failed],
      ]),
      counter(
        'gateway_payment_events_total',
        'Events logged about bank transactions, from notifications, polling and operators, by code.',
        this.#paymentEvents.entries().map(([code, count]) => [{ code }, count] as const),
      ),
      counter(
        'gateway_unknown_model_calls_total',
        'Calls that asked for an unknown model name, by outcome.',
        Object.entries(unknownModels.calls).map(([outcome, calls]) => [{ outcome }, calls] as const),
      ),
      counter(
        'gateway_unknown_model_calls_unnamed_total',
        'Calls that asked for an unknown model name that was not recorded, because there were too many.',
        unknownModels.unnamed,
      ),
    ]
  }
}
