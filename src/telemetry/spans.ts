/** Exports spans to a collector with OpenTelemetry's own SDK (OTLP over HTTP), behind a queue that counts lost spans. */

import {
  type HrTime,
  type Attributes as OtelAttributes,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'

export interface SpanRecord {
  readonly name: string
  readonly kind: 'server' | 'client'
  readonly traceId: string
  readonly spanId: string
  readonly parent: { readonly spanId: string; readonly isRemote: boolean } | null
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly failed: boolean
}

export interface SpanMetrics {
  readonly waiting: number
  readonly sent: number
  /** Number of spans that could not be sent to the collector. */
  readonly failed: number
  /** Number of spans dropped because the queue was full. */
  readonly dropped: number
}

export interface SpanSink {
  add(span: SpanRecord): void
  metrics(): SpanMetrics
  /** Sends the queued spans, but gives up after `CLOSE_MS`. */
  close(): Promise<void>
}

export interface SpanSinkOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Service attributes, added to every span. */
  readonly attributes: Readonly<Record<string, string>>
  readonly waitingMax: number
  /** Called when the collector starts or stops failing. */
  readonly report: (event: { level: 'warn' | 'info'; message: string; cause?: unknown }) => void
  /** Timeout for sending a batch, in ms, including retries. */
  readonly sendMs?: number
}

const BATCH_MAX = 512
const PAUSE_MS = 1_000
const CLOSE_MS = 3_000
const SCOPE = { name: 'gateway' }
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const
/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0

export function openSpanSink(options: SpanSinkOptions): SpanSink {
  const { url, headers, waitingMax, sendMs = 10_000 } = options
  const counts = { waiting: 0, sent: 0, failed: 0, dropped: 0 }
  // Enough to send all queued spans at once when the process stops.
  const concurrencyLimit = Math.ceil(waitingMax / BATCH_MAX) + 1
  const otlp = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: sendMs, concurrencyLimit })
  let isDown = false
  const exporter: SpanExporter = {
    export(spans, done) {
      counts.waiting -= spans.length
      otlp.export(spans, result => {
        const isSent = result.code === SUCCESS
        counts[isSent ? 'sent' : 'failed'] += spans.length
        if (isSent && isDown) options.report({ level: 'info', message: 'the trace collector accepts spans again' })
        if (!isSent && !isDown) {
          options.report({
            level: 'warn',
            message: 'the trace collector rejects spans; they are lost',
            cause: result.error?.message,
          })
        }
        isDown = !isSent
        done(result)
      })
    },
    shutdown: () => otlp.shutdown(),
  }
  const queue = new BatchSpanProcessor({
    exporter,
    maxQueueSize: waitingMax,
    maxExportBatchSize: Math.min(BATCH_MAX, waitingMax),
    scheduledDelayMillis: PAUSE_MS,
    exportTimeoutMillis: sendMs + 1_000,
  })
  const resource = resourceFromAttributes(options.attributes)
  return {
    add(span) {
      // Dropped here so that the SDK's own queue never fills up: it would drop spans without counting them.
      if (counts.waiting >= waitingMax) {
        counts.dropped++
        return
      }
      counts.waiting++
      queue.onEnd({ ...readable(span), resource })
    },
    metrics: () => ({ ...counts }),
    async close() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>(resolve => {
        timer = setTimeout(resolve, CLOSE_MS)
      })
      await Promise.race([queue.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

function readable(span: SpanRecord): Omit<ReadableSpan, 'resource'> {
  const { traceId, spanId, parent, startMs, endMs } = span
  const traceFlags = TraceFlags.SAMPLED
  const context = { traceId, spanId, traceFlags }
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context,
    ...(parent === null ? {} : { parentSpanContext: { traceId, traceFlags, ...parent } }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    status: { code: span.failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: span.attributes as OtelAttributes,
    links: [],
    events: [],
    ended: true,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function hrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
