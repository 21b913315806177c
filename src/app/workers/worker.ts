/** Runs a worker process. It tells the supervisor when it is ready, and shuts down when the supervisor asks or exits. */

import cluster from 'node:cluster'
import { type Config, ConfigError } from '../config.ts'
import { type RunningServer, serve } from '../serve.ts'
import type { FromWorker, ToWorker } from './messages.ts'

type ShutdownOrder = Exclude<ToWorker, { kind: 'hurry' | 'metrics' }>

/** Runs a worker; resolves when it has shut down. `readEnvironment` throws ConfigError. */
export async function work(readEnvironment: () => Config): Promise<void> {
  const { promise: shutdownOrder, resolve } = Promise.withResolvers<ShutdownOrder>()
  let running: RunningServer | null = null
  let hasOrder = false
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'hurry') return running?.hurry()
    if (message.kind === 'metrics') return void tellMetrics(running, message.question)
    // Second signal: cut the grace period short.
    if (hasOrder) void running?.gateway.retire(message.kind === 'stop' ? 'quick' : message.how)
    hasOrder = true
    resolve(message)
  })
  // Shuts down without an order from the supervisor, which then starts a replacement; the other workers serve new calls.
  const retireUnasked = (): ShutdownOrder => {
    const message: ShutdownOrder = { kind: 'retire', how: 'replaced' }
    void tell({ kind: 'leaving' })
    resolve(message)
    return message
  }
  process.on('SIGTERM', () => retireUnasked())
  // A terminal sends these to the whole process group; the supervisor decides what they mean.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  cluster.worker?.on('disconnect', () => {
    // The supervisor is gone. By default Node would end this process at once, together with its calls.
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
    resolve({ kind: 'retire', how: 'replaced' })
  })
  try {
    running = await serve(readEnvironment(), null)
  } catch (error) {
    await tell({
      kind: 'failed',
      reason: error instanceof ConfigError ? error.faults.join('\n  ') : String((error as Error).message),
      isEnvironment: error instanceof ConfigError,
    })
    return process.disconnect?.()
  }
  const { gateway, catalogue } = running
  await tell({ kind: 'ready', url: gateway.url, sandboxed: gateway.upstreams.sandboxed, catalogue })
  const message = await Promise.race([shutdownOrder, running.broken.then(retireUnasked)])
  if (message.kind === 'retire') await gateway.retire(message.how)
  await running.stop()
  cluster.worker?.disconnect()
}

async function tellMetrics(running: RunningServer | null, question: number): Promise<void> {
  const text = await running?.gateway.metrics?.text().catch(() => '')
  await tell({ kind: 'metrics', question, text: text ?? '' })
}

function tell(message: FromWorker): Promise<void> {
  return new Promise(resolve => {
    if (!process.connected) return resolve()
    process.send?.(message, undefined, undefined, () => resolve())
  })
}
