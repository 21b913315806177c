/** Metrics of the supervisor and of all workers. The metrics of a worker carry its number in the label `worker`. */

import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { counter, type Family, gauge, mergeExpositions, writeExposition } from '../../lib/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import type { PoolMetrics, WorkerPool } from './pool.ts'

/** Longest wait for a worker's metrics, in ms. A worker that is too busy to send them is left out of the scrape. */
const ANSWER_MS = 2_000

/** Computed once, because a value that differs from scrape to scrape would look as if the process had restarted. */
const STARTED_SECONDS = Date.now() / 1000 - process.uptime()

let questions = 0

export async function gatherMetrics(pool: Pick<WorkerPool, 'working' | 'metrics'>): Promise<string> {
  const texts = await Promise.all(pool.working.map(ask))
  const silent = texts.filter(text => text === '').length
  return mergeExpositions([writeExposition(poolFamilies(pool.metrics(), silent)), ...texts])
}

function poolFamilies(metrics: PoolMetrics, silent: number): readonly Family[] {
  const { wanted, starting, serving, leaving, lost, failedStarts } = metrics
  return [
    gauge('gateway_workers_wanted', 'Workers that the supervisor should keep serving.', wanted),
    gauge('gateway_workers', 'Workers of the supervisor, by state.', [
      [{ state: 'starting' }, starting],
      [{ state: 'serving' }, serving],
      [{ state: 'leaving' }, leaving],
    ]),
    gauge(
      'gateway_workers_silent',
      'Workers that should take or finish calls, but did not answer the supervisor within 2 s.',
      silent,
    ),
    counter('gateway_workers_lost_total', 'Workers that exited without being asked to.', lost),
    counter('gateway_worker_starts_failed_total', 'Workers that exited before they took calls.', failedStarts),
    gauge(
      'gateway_supervisor_start_time_seconds',
      'When the supervisor started, in seconds since 1970.',
      STARTED_SECONDS,
    ),
  ]
}

async function ask(worker: Worker): Promise<string> {
  if (!worker.isConnected()) return ''
  const question = ++questions
  const { promise, resolve } = Promise.withResolvers<string>()
  const hear = (message: FromWorker): void => {
    if (message.kind === 'metrics' && message.question === question) resolve(message.text)
  }
  const leave = () => resolve('')
  const late = new AbortController()
  worker.on('message', hear)
  worker.once('exit', leave)
  worker.send({ kind: 'metrics', question } satisfies ToWorker, () => {})
  const text = await Promise.race([promise, sleep(ANSWER_MS, '', { signal: late.signal }).catch(() => '')])
  late.abort()
  worker.off('message', hear)
  worker.off('exit', leave)
  return text
}
