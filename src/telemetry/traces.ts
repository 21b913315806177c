/**
 * One trace per call: a span for the client's request, and below it a span per attempt, with OpenTelemetry's attributes for
 * generative AI (semantic conventions of 2026-11, open-telemetry/semantic-conventions-genai, docs/gen-ai/client-inference.md).
 * Spans are created after the call from its metadata, never from its content.
 */

import { endpointOf } from '../endpoints/index.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Attempt } from '../pipeline/attempt.ts'
import type { Call, CallTracer, EndedCall } from '../pipeline/call.ts'
import type { SpanRecord, SpanSink } from './spans.ts'

interface TraceContext {
  readonly traceId: string
  /** Id of the span for the whole call. */
  readonly spanId: string
  /** Id of the client's span; null when the client sent none. */
  readonly parentSpanId: string | null
  readonly isSampled: boolean
}

/** Matches the version, trace id, span id and flags; later versions may append fields (W3C Trace Context). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const SAMPLED = 1

export interface TracesOptions {
  readonly sink: SpanSink
  /** Fraction of traces to keep, 0 to 1. The trace id decides, so that all services keep the same traces. */
  readonly ratio: number
}

export class Traces implements CallTracer {
  readonly #options: TracesOptions
  readonly #contexts = new WeakMap<Call, TraceContext>()
  readonly #attemptSpans = new WeakMap<Attempt, string>()

  constructor(options: TracesOptions) {
    this.#options = options
  }

  traceIdOf(call: Call): string | null {
    const { traceId, isSampled } = this.#contextOf(call)
    return isSampled ? traceId : null
  }

  traceparentOf(call: Call, attempt: Attempt): string {
    const { traceId, isSampled } = this.#contextOf(call)
    return `00-${traceId}-${this.#spanIdOf(attempt)}-${isSampled ? '01' : '00'}`
  }

  ended(ended: EndedCall): void {
    const context = this.#contextOf(ended.call)
    if (!context.isSampled) return
    const { sink } = this.#options
    const { attempts } = ended.call
    for (const [index, attempt] of attempts.entries()) {
      const isLast = index === attempts.length - 1
      sink.add(attemptSpan(ended, attempt, { context, spanId: this.#spanIdOf(attempt), isLast }))
    }
    sink.add(callSpan(ended, context))
  }

  #contextOf(call: Call): TraceContext {
    let context = this.#contexts.get(call)
    if (context === undefined) {
      context = contextOf(call, this.#options.ratio)
      this.#contexts.set(call, context)
    }
    return context
  }

  #spanIdOf(attempt: Attempt): string {
    let spanId = this.#attemptSpans.get(attempt)
    if (spanId === undefined) {
      spanId = newSpanId()
      this.#attemptSpans.set(attempt, spanId)
    }
    return spanId
  }
}

/** Uses the random half of a new UUID. */
function newSpanId(): string {
  return uuidv7().slice(19).replace('-', '')
}

/**
 * Continues the client's trace. Without one, begins a trace whose id is the call's id, so that each can be looked up by the
 * other.
 */
function contextOf(call: Call, ratio: number): TraceContext {
  const [, version, traceId, parentSpanId, flags = '', rest] = TRACEPARENT.exec(call.header('traceparent') ?? '') ?? []
  if (traceId === undefined || parentSpanId === undefined || (version === '00' && rest !== undefined)) {
    const own = call.id.replaceAll('-', '')
    return { traceId: own, spanId: newSpanId(), parentSpanId: null, isSampled: isKept(own, ratio) }
  }
  const isWanted = (Number.parseInt(flags, 16) & SAMPLED) !== 0
  return { traceId, spanId: newSpanId(), parentSpanId, isSampled: isWanted && isKept(traceId, ratio) }
}

/** Decides by the last 56 bits of the trace id, which are random (W3C Trace Context, level 2). */
function isKept(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) / 2 ** 56 >= 1 - ratio
}

function callSpan(ended: EndedCall, { traceId, spanId, parentSpanId }: TraceContext): SpanRecord {
  const { call, entry, status, code, latencyMs } = ended
  const startMs = call.openedAt.getTime()
  const route = endpointOf(call.endpoint).path
  return {
    name: `POST ${route}`,
    kind: 'server',
    traceId,
    spanId,
    parent: parentSpanId === null ? null : { spanId: parentSpanId, isRemote: true },
    startMs,
    endMs: startMs + latencyMs,
    attributes: {
      'http.request.method': 'POST',
      'http.route': route,
      'url.path': route,
      'http.response.status_code': status,
      'gateway.call.id': call.id,
      'gateway.request.id': call.requestId,
      'gateway.entry': entry?.id ?? 'none',
      'gateway.streamed': ended.streamed,
      'gateway.tries': call.attempts.length,
      'gateway.cost_vnd': Number(ended.costMicroVnd) / 1e6,
      ...(code === null ? {} : { 'error.type': code }),
    },
    failed: status >= 500,
  }
}

interface AttemptSpanFacts {
  readonly context: TraceContext
  readonly spanId: string
  /** True for the attempt that served the call or, if none did, for the last one. */
  readonly isLast: boolean
}

function attemptSpan(ended: EndedCall, attempt: Attempt, { context, spanId, isLast }: AttemptSpanFacts): SpanRecord {
  const { call, latencyMs, status } = ended
  const { upstream, target, startedMs, failure } = attempt
  const { operation, output } = endpointOf(call.endpoint).traced
  const openedMs = call.openedAt.getTime()
  const endedMs = failure === null ? call.startedMs + latencyMs : failure.atMs
  // A stream that breaks after its start has no `failure`, although it is the provider's fault, too.
  const error = failure?.code ?? (isLast && status >= 500 ? ended.code : null)
  return {
    name: `${operation} ${target.model}`,
    kind: 'client',
    traceId: context.traceId,
    spanId,
    parent: { spanId: context.spanId, isRemote: false },
    startMs: openedMs + (startedMs - call.startedMs),
    endMs: openedMs + Math.max(startedMs, endedMs) - call.startedMs,
    attributes: {
      'gen_ai.operation.name': operation,
      // OpenTelemetry writes the names of well-known providers with dots.
      'gen_ai.provider.name': upstream.facts.id.replaceAll('-', '.'),
      'gen_ai.request.model': target.model,
      'gen_ai.request.stream': ended.streamed,
      'server.address': upstream.address.host,
      'server.port': upstream.address.port,
      ...(output === null ? {} : { 'gen_ai.output.type': output }),
      ...(failure === null && isLast ? usageAttributes(ended, attempt) : {}),
      ...(error === null ? {} : { 'error.type': error }),
    },
    failed: error !== null,
  }
}

function usageAttributes({ call, used, firstByteMs, streamed }: EndedCall, { target, startedMs }: Attempt) {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = used
  const attributes: Record<string, string | number> = {
    'gen_ai.response.model': target.model,
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
  }
  if (cachedInputTokens > 0) attributes['gen_ai.usage.cache_read.input_tokens'] = cachedInputTokens
  if (reasoningTokens > 0) attributes['gen_ai.usage.reasoning.output_tokens'] = reasoningTokens
  if (streamed && firstByteMs !== null) {
    const seconds = Math.max(0, firstByteMs - (startedMs - call.startedMs)) / 1000
    attributes['gen_ai.response.time_to_first_chunk'] = seconds
  }
  return attributes
}
