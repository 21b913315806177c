/** Runs a supervisor: starts the database, then the workers, and replaces or stops the workers on request. */

import { createLog } from '../../lib/log.ts'
import { type MetricsServer, startMetricsServer } from '../../telemetry/metrics-server.ts'
import { Closing } from '../closing.ts'
import { type Config, ConfigError } from '../config.ts'
import { type Foundation, layFoundation } from '../foundation.ts'
import { folderNumber } from '../process-name.ts'
import { greet } from '../welcome.ts'
import { gatherMetrics } from './metrics.ts'
import { WorkerPool, WorkerStartError } from './pool.ts'

export interface Supervisor {
  readonly url: string
  /** Rejects when no worker is serving and none can be started. */
  readonly hopeless: Promise<never>
  /** Replaces every worker with one that runs the code and catalogue now on disk. Errors are logged. */
  reload(): void
  /** With `quick`, does not wait for load balancers to notice the shutdown, or for idle connections to close. */
  stop(options: { readonly quick: boolean }): Promise<void>
  hurry(): void
}

/**
 * Starts the supervisor and its workers. `onWorkersStarting` gets a function that makes the start fail, now that there are workers
 * that must not be left alone. Throws ConfigError for faults that the operator can fix.
 */
export async function supervise(
  config: Config,
  write: (text: string) => void,
  onWorkersStarting: (abandon: () => void) => void,
): Promise<Supervisor> {
  const log = createLog(config.logLevel)
  const closing = new Closing({ log, limitMs: config.limits.closeMs })
  const foundation = await layFoundation(config)
  const { promise: hopeless, reject: despair } = Promise.withResolvers<never>()
  hopeless.catch(() => {})
  const pool = new WorkerPool({
    size: config.workers ?? 1,
    environment: workerEnvironment(foundation),
    limits: config.limits,
    log,
    onHopeless: error => despair(error),
  })
  let metrics: MetricsServer | null = null
  const close = async (quick: boolean) => {
    await pool.stop(quick ? { kind: 'stop' } : { kind: 'retire', how: 'leaving' })
    closing.begin('metrics')
    await metrics?.close()
    closing.begin('database')
    await foundation.close()
    closing.begin(null)
  }
  try {
    if (config.metrics !== null) {
      metrics = await startMetricsServer({
        ...config.metrics,
        text: () => gatherMetrics(pool),
        report: ({ level, message, cause }) => log[level]({ cause }, message),
      })
    }
    // All workers shall find the same one.
    folderNumber(config.dataDir)
    onWorkersStarting(() => pool.abandonStarts())
    const { url, sandboxed, catalogue } = await pool.start()
    log.info({ url, catalogue, workers: config.workers }, 'ready')
    await greet(foundation, { url, sandboxed, write, log })
    return {
      url,
      hopeless,
      reload: () => void pool.replaceAll(),
      stop: ({ quick }) => close(quick),
      hurry: () => pool.hurry(),
    }
  } catch (error) {
    await close(true)
    if (error instanceof WorkerStartError) {
      if (error.isEnvironment) throw new ConfigError([error.message])
      throw new Error(`A worker did not start: ${error.message}`)
    }
    throw error
  }
}

/** The supervisor owns the embedded Postgres, which its workers reach as an ordinary database. */
function workerEnvironment({ embedded, databaseUrl }: Foundation): Readonly<Record<string, string>> {
  return embedded ? { DATABASE_URL: databaseUrl } : {}
}
