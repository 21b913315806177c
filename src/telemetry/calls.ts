/** Counts calls by entry, upstream, endpoint and status, at the cost of two look-ups and a few additions per call. */

import { ERRORS, type ErrorCode } from '../errors.ts'
import { counter, type Family, Histogram, histogram, type Labels } from '../lib/metrics.ts'
import type { CallObserver, EndedCall, PageFailure } from '../pipeline/call.ts'

/** Label for calls that ended before a model was chosen, or before an upstream was tried. */
const NONE = 'none'
const CALL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]
const FIRST_BYTE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60]
/**
 * Maximum number of series (pairs of provider and outcome) in which bank notifications are counted. Only a few pairs exist; the
 * limit keeps a bug from creating series without end.
 */
const NOTIFICATION_KINDS_MAX = 500

type StatusClass = '2xx' | '4xx' | '499' | '5xx'

/** 499 is a class of its own: the client disconnected, which says nothing about the gateway. */
function classOf(status: number): StatusClass {
  if (status < 400) return '2xx'
  if (status === 499) return '499'
  return status < 500 ? '4xx' : '5xx'
}

interface Cell {
  readonly labels: Labels
  readonly seconds: Histogram
  readonly firstByteSeconds: Histogram
}

/** Totals for the calls to one entry at one upstream. */
interface Use {
  readonly labels: Labels
  /** Call counts by endpoint and status class. */
  readonly cells: Map<string, Map<StatusClass, Cell>>
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  reasoningTokens: number
  images: number
  estimated: number
  /** In µVND; a number holds up to 9·10⁹ VND exactly. */
  upstreamCost: number
  upstreamCostUnknown: number
}

export class CallMetrics implements CallObserver {
  /** By entry, then by upstream; the catalogue bounds how many there are. */
  readonly #uses = new Map<string, Map<string, Use>>()
  readonly #failovers = new Map<string, number>()
  readonly #errors = new Map<ErrorCode, number>()
  readonly #pageFailures: Record<PageFailure, number> = { 500: 0, 503: 0 }
  readonly #notifications = new Map<string, { readonly labels: Labels; count: number }>()

  constructor() {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) this.#errors.set(code, 0)
  }

  ended({ call, entry, status, used, costMicroVnd, upstreamCostMicroVnd, firstByteMs, latencyMs }: EndedCall): void {
    const { attempts } = call
    const use = this.#use(entry?.id ?? NONE, attempts.at(-1)?.upstream.facts.id ?? NONE)
    const cell = cellOf(use, call.endpoint, classOf(status))
    cell.seconds.observe(latencyMs / 1000)
    if (firstByteMs !== null) cell.firstByteSeconds.observe(firstByteMs / 1000)
    use.inputTokens += used.inputTokens
    use.cachedInputTokens += used.cachedInputTokens
    use.outputTokens += used.outputTokens
    use.reasoningTokens += used.reasoningTokens
    use.images += used.images
    if (used.estimated) use.estimated++
    if (upstreamCostMicroVnd !== null) use.upstreamCost += Number(upstreamCostMicroVnd)
    else if (costMicroVnd > 0n) use.upstreamCostUnknown++
    for (let index = 1; index < attempts.length; index++) {
      const left = attempts[index - 1]!.upstream.facts.id
      this.#failovers.set(left, (this.#failovers.get(left) ?? 0) + 1)
    }
  }

  errorSent(code: ErrorCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1)
  }

  pageFailed(status: PageFailure): void {
    this.#pageFailures[status]++
  }

  notificationHandled(provider: string, outcomes: readonly string[]): void {
    for (const outcome of outcomes) {
      const name = `${provider} ${outcome}`
      const known = this.#notifications.get(name)
      if (known !== undefined) known.count++
      else if (this.#notifications.size < NOTIFICATION_KINDS_MAX) {
        this.#notifications.set(name, { labels: { provider, outcome }, count: 1 })
      }
    }
  }

  families(): readonly Family[] {
    const uses = this.#uses
      .values()
      .flatMap(byUpstream => byUpstream.values())
      .toArray()
    const cells = uses.flatMap(use =>
      use.cells
        .values()
        .flatMap(byStatus => byStatus.values())
        .toArray(),
    )
    const withFirstByte = cells.filter(({ firstByteSeconds }) => firstByteSeconds.count > 0)
    const sums = (pick: (use: Use) => number) => uses.map(use => [use.labels, pick(use)] as const)
    return [
      counter(
        'gateway_calls_total',
        'Calls with a usage row; status 499: the client disconnected.',
        cells.map(({ labels, seconds }) => [labels, seconds.count]),
      ),
      histogram(
        'gateway_call_duration_seconds',
        'From the first header of a call to its settlement.',
        cells.flatMap(({ labels, seconds }) => seconds.samples(labels)),
      ),
      histogram(
        'gateway_first_byte_seconds',
        'From the first header of a call to the first byte of its reply.',
        withFirstByte.flatMap(({ labels, firstByteSeconds }) => firstByteSeconds.samples(labels)),
      ),
      counter(
        'gateway_input_tokens_total',
        'Billed input tokens, cached ones included.',
        sums(use => use.inputTokens),
      ),
      counter(
        'gateway_cached_input_tokens_total',
        "Input tokens read from providers' caches.",
        sums(use => use.cachedInputTokens),
      ),
      counter(
        'gateway_output_tokens_total',
        'Billed output tokens, reasoning included.',
        sums(use => use.outputTokens),
      ),
      counter(
        'gateway_reasoning_tokens_total',
        'Output tokens spent on reasoning.',
        sums(use => use.reasoningTokens),
      ),
      counter(
        'gateway_images_total',
        'Billed images.',
        sums(use => use.images),
      ),
      counter(
        'gateway_estimated_calls_total',
        'Calls whose tokens the gateway counted, because the provider reported none, or more than the model can take.',
        sums(use => use.estimated),
      ),
      counter(
        'gateway_upstream_cost_vnd_total',
        'What charged calls cost the operator, where the catalogue knows it.',
        sums(use => use.upstreamCost / 1e6),
      ),
      counter(
        'gateway_upstream_cost_unknown_total',
        'Charged calls whose cost neither the catalogue nor the provider states.',
        sums(use => use.upstreamCostUnknown),
      ),
      counter(
        'gateway_failovers_total',
        'Attempts that failed at this upstream and were retried.',
        this.#failovers.entries().map(([upstream, count]) => [{ upstream }, count] as const),
      ),
      counter(
        'gateway_errors_total',
        'Errors sent to API clients, by code.',
        this.#errors.entries().map(([code, count]) => [{ code }, count] as const),
      ),
      counter(
        'gateway_pages_failed_total',
        'Pages that could not be shown; status 500: a fault of the gateway, 503: no database, or no room.',
        Object.entries(this.#pageFailures).map(([status, count]) => [{ status }, count]),
      ),
      counter(
        'gateway_bank_notifications_total',
        'Bank transactions by outcome, and refused notifications by code.',
        this.#notifications.values().map(({ labels, count }) => [labels, count] as const),
      ),
    ]
  }

  #use(entry: string, upstream: string): Use {
    let byUpstream = this.#uses.get(entry)
    if (byUpstream === undefined) {
      byUpstream = new Map()
      this.#uses.set(entry, byUpstream)
    }
    let use = byUpstream.get(upstream)
    if (use === undefined) {
      const labels = { entry, upstream }
      const none = {
        inputTokens: 0,
        cachedInputTokens: 0,
        outputTokens: 0,
        reasoningTokens: 0,
        images: 0,
        estimated: 0,
        upstreamCost: 0,
        upstreamCostUnknown: 0,
      }
      use = { labels, cells: new Map(), ...none }
      byUpstream.set(upstream, use)
    }
    return use
  }
}

function cellOf({ labels, cells }: Use, endpoint: string, status: StatusClass): Cell {
  let byStatus = cells.get(endpoint)
  if (byStatus === undefined) {
    byStatus = new Map()
    cells.set(endpoint, byStatus)
  }
  let cell = byStatus.get(status)
  if (cell === undefined) {
    const seconds = new Histogram(CALL_SECONDS)
    cell = { labels: { ...labels, endpoint, status }, seconds, firstByteSeconds: new Histogram(FIRST_BYTE_SECONDS) }
    byStatus.set(status, cell)
  }
  return cell
}
