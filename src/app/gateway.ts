/** Assembles a running gateway: database, ledger, upstreams, pipeline, HTTP server. */

import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import manifest from '../../package.json' with { type: 'json' }
import { createKeyFinder } from '../accounts/find-key.ts'
import { readKeyReport } from '../accounts/key-report.ts'
import { candidateHashes, type KeySecrets, knownSecrets } from '../accounts/key-secret.ts'
import { countRefusedKeys } from '../accounts/rotate.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { makeEnvelopeSigner } from '../conversation/envelope.ts'
import { playgroundCaller } from '../dashboard/playground/caller.ts'
import { TABLES } from '../generated/tables.ts'
import type { Tables } from '../generated/types.ts'
import { Readiness } from '../http/readiness.ts'
import { createServer } from '../http/server.ts'
import { createLedger } from '../ledger/ledger.ts'
import { LEDGER_LIMITS } from '../ledger/options.ts'
import { openDatabase, type Sql } from '../lib/database.ts'
import type { Logger } from '../lib/log.ts'
import { openWatchedDatabase } from '../lib/watched-database.ts'
import { createFlightLimiter } from '../operations/flight-limit.ts'
import { createRateLimiter } from '../operations/rate-limit.ts'
import { countUnknownModels } from '../operations/unknown-models.ts'
import { type OperationsWatch, watchOperations } from '../operations/watch.ts'
import { createAuthenticator } from '../pipeline/authenticate.ts'
import { Pinger } from '../pipeline/pinger.ts'
import { createImageFetcher, type ImageFetchOptions } from '../upstream/fetch-image.ts'
import { createRegistry, type UpstreamRegistry } from '../upstream/registry.ts'
import { openBackOffice } from './back-office.ts'
import type { Config } from './config.ts'
import { addPages } from './pages.ts'
import { processName } from './process-name.ts'
import { type Metrics, Telemetry } from './telemetry.ts'

export interface GatewayOptions {
  readonly config: Config
  /** URL of a migrated database. May point to a connection pooler if `databaseDirectUrl` is set, which bypasses the pooler. */
  readonly databaseUrl: string
  /** Direct Postgres URL, for work that needs a session; may be omitted if `databaseUrl` points to Postgres itself. */
  readonly databaseDirectUrl?: string | null
  readonly keySecrets: KeySecrets
  /** URL of the sandbox, which stands in for upstreams without credentials; null makes those upstreams unavailable. */
  readonly sandboxUrl: string | null
  readonly log: Logger
  /** Stable, and unique among running processes; by default `processName`. */
  readonly instanceName?: string
  /** Called during shutdown, once calls have had time to finish, with the name of each component about to be closed. */
  readonly onClosing?: (step: string) => void
  /** For tests: replaces the catalogue in `generated/tables.ts`. */
  readonly tables?: Tables
  /** For tests: overrides the rules for the addresses that images may be fetched from. */
  readonly imageFetch?: Partial<Pick<ImageFetchOptions, 'ports' | 'isAllowed' | 'resolve'>>
}

export interface Gateway {
  readonly url: string
  readonly server: FastifyInstance
  readonly readiness: Readiness
  readonly upstreams: UpstreamRegistry
  /** Null when metrics are off. */
  readonly metrics: Metrics | null
  /**
   * Stops listening without failing any client's request, and waits for the open connections to end. A second call, with
   * `quick`, makes them end sooner. Call `stop` afterwards.
   */
  retire(how: RetireMode): Promise<void>
  /** Refuses new calls, waits until the calls in flight have ended and been settled, and closes everything. */
  stop(): Promise<void>
  /** Aborts the calls in flight that `retire` or `stop` is waiting for. Each is charged for the part that has been sent. */
  hurry(): void
}

/**
 * How a process stops using its port. `replaced`: other processes keep serving the port, so idle connections stay open until
 * their clients close them, at the latest when the advertised keep-alive timeout expires. `leaving`: load balancers are told
 * first. `quick`: idle connections are closed at once.
 */
export type RetireMode = 'replaced' | 'leaving' | 'quick'

const nowMs = () => performance.now()

/** Whether a database responds that takes writes. A standby does not, nor one that has been made read-only. */
async function databaseAnswers(sql: Sql): Promise<boolean> {
  return sql`select current_setting('transaction_read_only') as read_only`.then(
    ([row]) => row?.read_only === 'off',
    () => false,
  )
}

/** Starts listening once everything that a call needs is ready. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, databaseUrl, keySecrets, sandboxUrl, log } = options
  const catalogue = createCatalogue(options.tables ?? TABLES)
  const upstreams = createRegistry({
    upstreams: catalogue.upstreams.values(),
    environment: config.upstream,
    aws: config.aws,
    sandboxUrl,
    connectionsMax: config.limits.upstreamConnectionsMax,
    nowMs,
  })
  const { databaseWaitMs } = config.limits
  const directUrl = options.databaseDirectUrl ?? databaseUrl
  const spoolDir = join(config.dataDir, 'spool')
  const telemetry = await Telemetry.open({
    config,
    databaseUrl: directUrl,
    spoolDir,
    version: manifest.version,
    serviceName: catalogue.settings.service,
    log,
  })
  const shared = {
    url: databaseUrl,
    pooled: directUrl !== databaseUrl,
    statementTimeoutMs: 2000,
    deadlineMs: databaseWaitMs,
  }
  const sql = openWatchedDatabase({ ...shared, name: 'gateway', connectionsMax: 4 })
  const pages = openWatchedDatabase({ ...shared, name: 'gateway pages', connectionsMax: 6 })
  const listener = openDatabase({ url: directUrl, name: 'gateway news', connectionsMax: 1 })
  const closeDatabases = () => Promise.all([sql, listener, pages].map(pool => pool.end({ timeout: 5 })))
  const instanceName = options.instanceName ?? processName(config)
  const ledger = await createLedger({
    url: directUrl,
    instanceName,
    spoolDir,
    catalogueDigest: catalogue.settings.digest,
    report(event) {
      telemetry.ledgerReported(event)
      log[event.level]({ code: event.code, cause: event.cause }, event.message)
    },
    limits: {
      admissionWaitMs: config.limits.admissionWaitMs,
      settleWaitMs: config.limits.settleWaitMs,
      holdRetryMs: databaseWaitMs,
      lostAfterMs: config.limits.lostAfterMs,
      restartGraceMs: Math.min(LEDGER_LIMITS.restartGraceMs, config.limits.lostAfterMs),
    },
  }).catch(async error => {
    await Promise.all([closeDatabases(), upstreams.close(), telemetry.close()])
    throw error
  })
  const keyFinder = createKeyFinder({ url: directUrl, retryMs: databaseWaitMs })
  const rateLimiter = createRateLimiter({ url: directUrl, nowMs })
  const flightLimiter = createFlightLimiter({ url: directUrl, name: instanceName })
  const pinger = new Pinger({ nowMs, everyMs: Math.min(1000, config.limits.pingAfterMs) })
  const authenticator = createAuthenticator({
    directory: { hashes: key => candidateHashes(keySecrets, key), find: hashes => keyFinder.find(hashes) },
    cachedMax: config.limits.rememberedKeysMax,
    cachedMs: config.limits.rememberedKeyMs,
    nowMs,
  })
  const images = createImageFetcher({
    bytesMax: config.limits.imageBytesMax,
    timeoutMs: config.limits.imageFetchMs,
    parallelMax: config.limits.imageFetchesMax,
    redirectsMax: 3,
    ports: [80, 443],
    ...options.imageFetch,
  })
  const readiness = new Readiness({
    databaseAnswers: () => databaseAnswers(sql),
    maintenance: () => operations.maintenance,
  })
  const backOffice = openBackOffice({
    config,
    sql: pages,
    catalogue,
    keySecrets,
    log,
    onCredited: accountId => ledger.wake(accountId),
    onPaymentEvent: event => telemetry.paymentReported(event),
  })
  const unknownModels = countUnknownModels({
    sql,
    report: ({ level, fields, message }) => log[level](fields, message),
    namesMax: config.limits.unknownModelsMax,
    namesPerDayMax: config.limits.unknownModelsPerDayMax,
    writeMs: config.limits.unknownModelsWriteMs,
  })
  const startedAt = new Date().toISOString()
  const watching = watchOperations({
    sql,
    listener,
    name: instanceName,
    status: () => ({
      pid: process.pid,
      startedAt,
      catalogue: catalogue.settings.digest,
      callsInFlight: readiness.callsInFlight,
      upstreams: upstreams.status(),
      secrets: knownSecrets(keySecrets),
    }),
    onKeysChanged() {
      authenticator.forget()
      rateLimiter.forget()
    },
    onUpstreamsOut: out => upstreams.setOut(out),
    onProcesses: count => flightLimiter.setProcesses(count),
    report: ({ level, message, cause }) => log[level]({ cause }, message),
  })
  // Prevents an unhandled rejection: `watching` is awaited below, once the server has been assembled, and its error handled
  // there.
  watching.catch(() => {})
  let operations: OperationsWatch
  const services = {
    catalogue,
    images,
    upstreams,
    ledger,
    limits: config.limits,
    log,
    observer: telemetry.observer,
    tracer: telemetry.tracer,
    unknownModels,
    nowMs,
    topUpUrl: `${config.publicUrl}/topup`,
    walletFoundEmpty: (accountId: number) => authenticator.distrust(accountId),
    sendsWireHeader: !config.production,
    envelopeSignerFor: (accountId: number) => makeEnvelopeSigner(keySecrets.peppers, String(accountId)),
    findKey: (hashes: readonly Uint8Array[]) => keyFinder.find(hashes),
  }
  const server = createServer({
    services,
    authenticator,
    pinger,
    readiness,
    rateLimiter,
    flightLimiter,
    playgroundCaller: playgroundCaller({
      people: backOffice.people,
      keySecrets,
      publicUrl: config.publicUrl,
      production: config.production,
      dailyVndMax: config.limits.playgroundDailyVndMax,
    }),
    banking: backOffice,
    keyReport: key => readKeyReport(sql, key),
    limits: config.limits,
    production: config.production,
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
  })
  const stop = async () => {
    const closing = options.onClosing ?? (() => {})
    await readiness.drain(config.limits.drainMs)
    closing('calls and connections of clients')
    server.server.closeAllConnections()
    await readiness.idle()
    await server.close()
    closing('counts of unknown models')
    await unknownModels.close()
    closing('emails, alerts and bank notifications')
    await backOffice.close()
    closing('ledger')
    await ledger.close()
    closing('connections to Postgres and upstreams')
    await watching.then(
      watch => watch.close(),
      () => {},
    )
    await Promise.all([
      upstreams.close(),
      images.close(),
      keyFinder.close(),
      rateLimiter.close(),
      flightLimiter.close(),
      closeDatabases(),
    ])
    closing('metrics and traces')
    await telemetry.close()
  }
  try {
    await addPages(server, { config, backOffice, sql: pages, keySecrets, catalogue, upstreams, services, log })
    operations = await watching
    const metrics = await telemetry.serve({
      catalogue,
      ledger,
      upstreams,
      readiness,
      pinger,
      maintenance: () => operations.maintenance,
      mails: () => backOffice.mails(),
      deliveries: backOffice.alerts.counts,
      unknownModels,
      requests: () => ({
        bodies: server.bodies.byKind().map(({ kind, permits: { bytes, bytesMax, waiting, refused } }) => ({
          kind,
          bytes,
          bytesMax,
          waiting,
          refused,
        })),
        lingering: server.lingering.size,
        refusedInFlight: flightLimiter.refused,
      }),
      pools: () => [sql.load, pages.load, keyFinder.load, rateLimiter.load, flightLimiter.load],
      queues: () => [
        keyFinder.queue,
        rateLimiter.queue,
        flightLimiter.queue,
        unknownModels.queue,
        images.queue,
        backOffice.people.passwords.queue,
        { name: 'mails', items: backOffice.mails().waiting, itemsMax: null },
        ...server.bodies.byKind().map(({ kind, permits: { waiting: items, waitingMax: itemsMax } }) => {
          return { name: `bodies of ${kind}`, items, itemsMax }
        }),
      ],
    })
    const url = await server.listen({ host: config.host, port: config.port })
    void warnOfRefusedKeys({ sql: pages, keySecrets, log })
    const { drainNoticeMs, drainIdleMs, drainMs: graceMs, keepAliveTimeoutMs } = config.limits
    const idleMs = { quick: 0, leaving: drainIdleMs, replaced: Math.max(drainIdleMs, keepAliveTimeoutMs + 1_000) }
    const retire = (how: RetireMode) =>
      readiness.retire({ noticeMs: how === 'leaving' ? drainNoticeMs : null, idleMs: idleMs[how], graceMs })
    return { url, server, readiness, upstreams, metrics, retire, stop, hurry: () => readiness.hurry() }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Logs an error if active keys need a pepper that this process lacks, as after a wrong step of a rotation. Never rejects. */
async function warnOfRefusedKeys({ sql, keySecrets, log }: { sql: Sql; keySecrets: KeySecrets; log: Logger }) {
  const keys = await countRefusedKeys(sql, keySecrets).catch(() => 0)
  if (keys > 0)
    log.error({ keys }, 'active API keys get a 401, because KEY_PEPPERS lacks their pepper; see `secrets status`')
}
