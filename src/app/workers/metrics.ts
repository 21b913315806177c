/** Merges the metrics of all workers for the supervisor's port, each with its number in the label `worker`. */

import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { mergeExpositions } from '../../lib/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Longest wait for a worker, in ms; a busy one is left out of this scrape. */
const ANSWER_MS = 2_000

let questions = 0

export async function gatherMetrics(workers: readonly Worker[]): Promise<string> {
  return mergeExpositions(await Promise.all(workers.map(ask)))
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
