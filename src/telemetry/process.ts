/** Metrics of this process from Node and the kernel, under the names that Node dashboards expect. */

import { readdirSync, readFileSync } from 'node:fs'
import {
  constants,
  type EventLoopUtilization,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks'
import { counter, type Family, gauge, Histogram, histogram } from '../lib/metrics.ts'

/** Sampling interval of the event loop monitor, in ms. A late sample shows how long the loop was blocked. */
const SAMPLE_EVERY_MS = 10
const NANOSECONDS = 1e9
const MICROSECONDS = 1e6
const GC_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2]
const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** A `gc` performance entry, with the `detail` that Node adds. */
interface GcEntry extends PerformanceEntry {
  readonly detail?: { readonly kind?: number }
}

export class ProcessMetrics {
  readonly #startedSeconds = Date.now() / 1000 - process.uptime()
  readonly #loop = monitorEventLoopDelay({ resolution: SAMPLE_EVERY_MS })
  readonly #collections = new Map(Object.values(GC_KINDS).map(kind => [kind, new Histogram(GC_SECONDS)]))
  readonly #observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const { kind = 0 } = (entry as GcEntry).detail ?? {}
      this.#collections.get(GC_KINDS[kind] ?? '')?.observe(entry.duration / 1000)
    }
  })
  #utilization: EventLoopUtilization = performance.eventLoopUtilization()
  #rejections = 0
  readonly #uncaught = (_cause: unknown, origin: NodeJS.UncaughtExceptionOrigin): void => {
    if (origin === 'unhandledRejection') this.#rejections++
  }

  constructor() {
    process.on('uncaughtExceptionMonitor', this.#uncaught)
    this.#loop.enable()
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  close(): void {
    process.off('uncaughtExceptionMonitor', this.#uncaught)
    this.#loop.disable()
    this.#observer.disconnect()
  }

  /** Collects all families. Event loop metrics cover the time since the last call. */
  families(): readonly Family[] {
    return [...this.#processFamilies(), ...this.#loopFamilies(), ...this.#memoryFamilies()]
  }

  #processFamilies(): readonly Family[] {
    const { user, system } = process.cpuUsage()
    const byType = Map.groupBy(process.getActiveResourcesInfo(), type => type)
    return [
      counter('process_cpu_user_seconds_total', 'CPU time of this process in user code.', user / MICROSECONDS),
      counter('process_cpu_system_seconds_total', 'CPU time of this process in the kernel.', system / MICROSECONDS),
      counter('process_cpu_seconds_total', 'CPU time of this process.', (user + system) / MICROSECONDS),
      counter(
        'gateway_unhandled_rejections_total',
        'Promises that were rejected and not handled: faults of the gateway, each in the log.',
        this.#rejections,
      ),
      gauge('process_start_time_seconds', 'When this process started, in seconds since 1970.', this.#startedSeconds),
      gauge('process_open_fds', 'Open file descriptors.', openFiles() ?? []),
      gauge('process_max_fds', 'File descriptors that this process may open.', openFilesMax() ?? []),
      gauge(
        'nodejs_active_resources',
        'Handles and requests that keep the process alive, by type.',
        byType.entries().map(([type, same]) => [{ type }, same.length] as const),
      ),
    ]
  }

  #loopFamilies(): readonly Family[] {
    const delay = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - SAMPLE_EVERY_MS / 1000) || 0
    const loop = this.#loop
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization)
    this.#utilization = now
    const families = [
      gauge(
        'nodejs_eventloop_lag_mean_seconds',
        'Mean delay of the event loop since the last scrape.',
        delay(loop.mean),
      ),
      gauge(
        'nodejs_eventloop_lag_p50_seconds',
        'Median delay of the event loop since the last scrape.',
        delay(loop.percentile(50)),
      ),
      gauge(
        'nodejs_eventloop_lag_p99_seconds',
        "99th percentile of the event loop's delay since the last scrape.",
        delay(loop.percentile(99)),
      ),
      gauge(
        'nodejs_eventloop_lag_max_seconds',
        'Longest delay of the event loop since the last scrape.',
        delay(loop.max),
      ),
      gauge(
        'nodejs_eventloop_utilization',
        'Share of the time since the last scrape in which the loop was busy.',
        utilization,
      ),
    ]
    loop.reset()
    return families
  }

  #memoryFamilies(): readonly Family[] {
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
    return [
      gauge('process_resident_memory_bytes', 'Memory of this process in RAM.', rss),
      gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', heapTotal),
      gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', heapUsed),
      gauge('nodejs_external_memory_bytes', 'Memory outside the heap owned by its objects.', external),
      histogram(
        'nodejs_gc_duration_seconds',
        'Garbage collections by kind.',
        this.#collections
          .entries()
          .toArray()
          .flatMap(([kind, seconds]) => seconds.samples({ kind })),
      ),
    ]
  }
}

/** Number of open files; null where the kernel does not report it. */
function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}

function openFilesMax(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}
