/** The pages of a gateway and what stands behind them: people, mail, payments, a pool of their own, housekeeping. */

import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { KeySecrets } from '../accounts/key-secret.ts'
import { recordAction } from '../accounts/operator-log.ts'
import { createPeople } from '../accounts/services.ts'
import { sweepPeople } from '../accounts/sweep.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { addDashboard } from '../dashboard/dashboard.ts'
import { DASHBOARD_LIMITS } from '../dashboard/options.ts'
import { describeApi } from '../http/openapi/document.ts'
import { credit } from '../ledger/credit.ts'
import { openDatabase } from '../lib/database.ts'
import type { Logger } from '../lib/log.ts'
import { createOutboxMailer, createSmtpMailer } from '../lib/mail.ts'
import { PAYMENT_LIMITS } from '../payments/limits.ts'
import type { PaymentServices } from '../payments/types.ts'
import type { UpstreamRegistry } from '../upstream/registry.ts'
import type { Config } from './config.ts'

export interface PagesOptions {
  readonly config: Config
  /** Migrated. */
  readonly databaseUrl: string
  readonly keySecrets: KeySecrets
  readonly catalogue: Catalogue
  readonly upstreams: UpstreamRegistry
  /** Lets calls that wait for money go on. */
  readonly wake: (accountId: number) => void
  readonly log: Logger
}

export interface Pages {
  readonly payments: PaymentServices
  addTo(server: FastifyInstance): Promise<void>
  close(): Promise<void>
}

const CONNECTIONS_MAX = 6
const STATEMENT_TIMEOUT_MS = 5_000
const SWEEP_EVERY_MS = 3_600_000

export function createPages(options: PagesOptions): Pages {
  const { config, log, catalogue } = options
  const { production, publicUrl, people: settings } = config
  const sql = openDatabase({
    url: options.databaseUrl,
    name: 'gateway pages',
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  })
  const outbox = join(config.dataDir, 'outbox')
  const from = settings.mailFrom
  const mailer = settings.smtpUrl
    ? createSmtpMailer({ url: settings.smtpUrl, from })
    : createOutboxMailer({ folder: outbox, from })
  if (production && settings.smtpUrl === null) {
    log.warn('SMTP_URL is not set: mail is written to files, so nobody can confirm an address')
  }
  const people = createPeople({
    sql,
    mailer,
    publicUrl,
    serviceName: catalogue.settings.service.toUpperCase(),
    onMailFailed: cause => log.error({ cause }, 'a mail could not be handed over'),
  })
  const payments: PaymentServices = {
    sql,
    bank: settings.bank,
    bookCredit: credit,
    recordAction,
    onCredited: options.wake,
    report: ({ level, code, message, cause }) => log[level]({ code, cause }, message),
    simulation: !production && config.sandbox === 'auto',
    limits: PAYMENT_LIMITS,
  }
  const sweep = () => sweepPeople(people).catch((cause: unknown) => log.warn({ cause }, 'the hourly sweep failed'))
  const timer = setInterval(() => void sweep(), SWEEP_EVERY_MS).unref()
  return {
    payments,
    addTo: server =>
      addDashboard(server, {
        catalogue,
        people,
        payments,
        keySecrets: options.keySecrets,
        sql,
        upstreams: () => options.upstreams.status(),
        openApi: describeApi({ catalogue, publicUrl }),
        publicUrl,
        outboxFolder: production || settings.smtpUrl !== null ? null : outbox,
        production,
        log,
        now: () => new Date(),
        limits: DASHBOARD_LIMITS,
      }),
    async close() {
      clearInterval(timer)
      mailer.close()
      await sql.end({ timeout: 5 })
    },
  }
}
