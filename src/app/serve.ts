/** Starts the components of a gateway process in order, prints a welcome text, and stops the components in order. */

import { flushCompileCache } from 'node:module'
import { TABLES } from '../generated/tables.ts'
import type { Tables } from '../generated/types.ts'
import { createLog, type Logger } from '../lib/log.ts'
import { warmTokens } from '../lib/tokens.ts'
import type { Sandbox } from '../sandbox/server.ts'
import { Closing } from './closing.ts'
import type { Config } from './config.ts'
import { type Foundation, layFoundation } from './foundation.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { greet } from './welcome.ts'

export interface RunningServer {
  readonly gateway: Gateway
  /** Digest of the current catalogue. */
  readonly catalogue: string
  stop(): Promise<void>
  /** Aborts the calls that a `stop` is waiting for. */
  hurry(): void
  /** Resolves after an uncaught exception. The process should then stop. */
  readonly broken: Promise<void>
}

/** Starts everything. If `write` is null, prints no welcome text. Throws ConfigError for faults that the operator can fix. */
export async function serve(config: Config, write: ((text: string) => void) | null): Promise<RunningServer> {
  const log = createLog(config.logLevel, { base: config.worker === null ? {} : { worker: config.worker } })
  // Save the compile cache now: it then survives a crash (see src/start.js), and no call has to wait for the disk.
  flushCompileCache()
  const closing = new Closing({ log, limitMs: config.limits.closeMs })
  const foundation = await layFoundation(config)
  let sandbox: Sandbox | null = null
  let gateway: Gateway
  try {
    sandbox = config.sandbox === 'auto' && needsSandbox(config, TABLES) ? await openSandbox() : null
    const { databaseUrl, databaseDirectUrl, secrets } = foundation
    gateway = await startGateway({
      config,
      databaseUrl,
      databaseDirectUrl,
      keySecrets: secrets,
      sandboxUrl: sandbox?.url ?? null,
      log,
      onClosing: step => closing.begin(step),
    })
  } catch (error) {
    await closeRest(sandbox, foundation, closing)
    throw error
  }
  for (const upstream of gateway.upstreams.unreachable) {
    log.warn({ upstream }, 'no credentials: calls to this upstream fail; set its API key in the environment')
  }
  log.info({ url: gateway.url, catalogue: TABLES.settings.digest, entries: TABLES.entries.length }, 'ready')
  const uncaught = watchUncaught(log)
  const stop = async () => {
    await gateway.stop()
    await closeRest(sandbox, foundation, closing)
    uncaught.stop()
  }
  if (write !== null) await greet(foundation, { url: gateway.url, sandboxed: gateway.upstreams.sandboxed, write, log })
  warmTokens()
  return {
    gateway,
    catalogue: TABLES.settings.digest,
    stop,
    hurry: () => gateway.hurry(),
    broken: uncaught.broken,
  }
}

/**
 * Logs uncaught errors instead of letting Node print them: unlike Node, the log omits their messages, which may quote a client
 * or a provider. An unhandled rejection affects only one task. After an uncaught exception, any state may be inconsistent, so
 * the process should finish its calls and exit.
 */
function watchUncaught(log: Logger): { readonly broken: Promise<void>; stop(): void } {
  const { promise: broken, resolve } = Promise.withResolvers<void>()
  const listener = (cause: unknown, origin: NodeJS.UncaughtExceptionOrigin) => {
    if (origin === 'unhandledRejection') return log.error({ cause }, 'unhandled promise rejection')
    log.fatal({ cause }, 'uncaught exception; the process exits when its calls have finished')
    resolve()
  }
  process.on('uncaughtException', listener)
  return { broken, stop: () => process.off('uncaughtException', listener) }
}

function needsSandbox(config: Config, tables: Tables): boolean {
  return tables.upstreams.some(upstream => config.upstream(upstream.id).apiKeys.length === 0)
}

/** Imported lazily, because production never needs it. */
async function openSandbox(): Promise<Sandbox> {
  const [{ startSandbox }, { sandboxFacts }] = await Promise.all([
    import('../sandbox/server.ts'),
    import('./sandbox-facts.ts'),
  ])
  return startSandbox(sandboxFacts(TABLES))
}

async function closeRest(sandbox: Sandbox | null, foundation: Foundation, closing: Closing): Promise<void> {
  closing.begin('sandbox')
  await sandbox?.close()
  closing.begin('database')
  await foundation.close()
  closing.begin(null)
}
