/** Wires up accounts and payments for one process: everything behind the pages, the webhooks and the operator's commands. */

import { join } from 'node:path'
import { createIdentityProviders } from '../accounts/identity-providers/index.ts'
import { updateKeyTotals } from '../accounts/key-count.ts'
import type { KeySecrets } from '../accounts/key-secret.ts'
import { PEOPLE_LIMITS } from '../accounts/limits.ts'
import { recordMails } from '../accounts/mail-log.ts'
import { recordAction } from '../accounts/operator-log.ts'
import { createPeople } from '../accounts/services.ts'
import { sweepPeople } from '../accounts/sweep.ts'
import type { PeopleServices } from '../accounts/types.ts'
import { postWebhooks, sendMails } from '../alerts/deliver.ts'
import { findAlerts, findSlowAlerts, sweepAlerts } from '../alerts/run.ts'
import { createAlerts } from '../alerts/services.ts'
import type { AlertServices } from '../alerts/types.ts'
import { createWebhookClient } from '../alerts/webhook-client.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { credit } from '../ledger/credit.ts'
import { sumDays } from '../ledger/day-totals.ts'
import { rollUpCalls } from '../ledger/roll-up.ts'
import { rollUpAccounts } from '../ledger/roll-up-accounts.ts'
import type { Sql } from '../lib/database.ts'
import { takeTurn } from '../lib/lease.ts'
import type { Logger } from '../lib/log.ts'
import { countMails, createOutboxMailer, createSmtpMailer, type Mailer, type MailMetrics } from '../lib/mail.ts'
import { runAll } from '../lib/run-all.ts'
import { judgeUndecided } from '../payments/judge.ts'
import { PAYMENT_LIMITS } from '../payments/limits.ts'
import { createBankProviders, createPullSources } from '../payments/providers/index.ts'
import { pullTransactions } from '../payments/pull.ts'
import type { BankAccount, BankProvider, PaymentEvent, PaymentServices } from '../payments/types.ts'
import type { Config } from './config.ts'

export interface BackOffice {
  readonly people: PeopleServices
  readonly payments: PaymentServices
  readonly alerts: AlertServices
  /** Services that report bank transfers, keyed by their name in the webhook's path. */
  readonly providers: ReadonlyMap<string, BankProvider>
  /** Folder that emails are written to when no mail server is configured; null otherwise. */
  readonly outboxDir: string | null
  mails(): MailMetrics
  /** Stops the background work. Closing the database pool is left to the caller. */
  close(): Promise<void>
}

export interface BackOfficeOptions {
  readonly config: Config
  readonly sql: Sql
  readonly catalogue: Catalogue
  readonly keySecrets: KeySecrets
  readonly log: Logger
  /** Called after a top-up is committed. */
  readonly onCredited: (accountId: number) => void
  /** Counts an event for the metrics. */
  readonly onPaymentEvent: (event: PaymentEvent) => void
}

/** A made-up bank, unknown to every banking app, so that nobody can transfer money to the sandbox by mistake. */
const SANDBOX_BANK: BankAccount = {
  bin: '999999',
  accountNumber: '0000000000',
  accountName: 'SANDBOX',
  bankName: 'Sandbox',
}
const SWEEP_MS = 3_600_000
/**
 * Pause after a roll-up or a search for alerts, as a multiple of its duration; at most REST_MS_MAX. The duration grows with the
 * number of accounts that make calls in a day.
 */
const REST_TIMES = 19
const REST_MS_MAX = 120_000
/** Time between runs of `updateKeyTotals`. A key's sums change only once a day, and a run takes a while, as it reads all keys. */
const KEY_TOTALS_MS = 2 * 3_600_000
const JUDGE_MS = 60_000
const ROLL_UP_MS = 15_000
const ALERT_MS = 15_000
const SLOW_ALERT_MS = 3_600_000
const DELIVER_MS = 5_000

/** Creates the payment services without their background work, for the command line. */
export function createPayments(given: {
  readonly config: Config
  readonly sql: Sql
  readonly onCredited: (accountId: number) => void
  readonly report: (event: PaymentEvent) => void
}): PaymentServices {
  const { config, ...rest } = given
  const simulation = !config.production && !config.real && config.sandbox === 'auto'
  return {
    ...rest,
    bank: config.bank ?? (simulation ? SANDBOX_BANK : null),
    bookCredit: credit,
    recordAction,
    simulation,
    limits: PAYMENT_LIMITS,
  }
}

export function openBackOffice(options: BackOfficeOptions): BackOffice {
  const { config, sql, catalogue, keySecrets, log, onCredited, onPaymentEvent } = options
  const serviceName = catalogue.settings.service.toUpperCase()
  const outboxDir = outboxOf(config)
  if (outboxDir !== null && config.production) {
    log.warn({ folder: outboxDir }, 'email is off, so nobody can register; set SMTP_URL')
  }
  const counted = countMails(createMailer(config))
  const mailer = recordMails(counted, sql, cause => log.warn({ cause }, 'an email was sent but could not be recorded'))
  const people = createPeople({
    sql,
    mailer,
    publicUrl: config.publicUrl,
    serviceName,
    providers: createIdentityProviders(config.signIn, {
      publicUrl: config.publicUrl,
      allowHttp: !config.production,
      timeoutMs: PEOPLE_LIMITS.providerTimeoutMs,
      replyBytesMax: PEOPLE_LIMITS.providerReplyBytesMax,
    }),
    limits: {
      factorFreshSeconds: config.limits.secondFactorFreshMs / 1000,
      passkeyChallengeSeconds: config.limits.passkeyChallengeMs / 1000,
      passkeysMax: config.limits.passkeysMax,
    },
    onMailFailed: cause => log.error({ cause }, 'could not send an email'),
  })
  const stopping = new AbortController()
  const { webhookTimeoutMs } = config.limits
  const webhookClient = createWebhookClient({
    timeoutMs: webhookTimeoutMs,
    privateNetworks: config.webhookNetworks,
  })
  const alerts = createAlerts({
    sql,
    mailer,
    webhookClient,
    webhookTimeoutMs,
    catalogue,
    secrets: keySecrets,
    publicUrl: config.publicUrl,
    serviceName,
    nowMs: Date.now,
    stopping: stopping.signal,
    report: (message, cause) => log.error({ cause }, message),
  })
  const report = (event: PaymentEvent): void => {
    const { level, code, message, cause } = event
    log[level]({ code, cause }, message)
    onPaymentEvent(event)
  }
  const payments = createPayments({ config, sql, onCredited, report })
  const providers = createBankProviders(config.providers, { limits: payments.limits, nowMs: Date.now })
  const sources = createPullSources(config.providers, { limits: payments.limits, sepayApiUrl: config.sepayApiUrl })
  /** Runs `run` once every `everyMs`, each time in whichever process takes the lease first. */
  const inTurn = (task: string, everyMs: number, run: () => Promise<unknown>) => {
    const query = (statement: string, parameters: string[]) => sql.unsafe(statement, parameters)
    const attempt = () => takeTurn(query, { task, everyMs }, run)
    const onFault = (cause: unknown) => log.warn({ task, cause }, 'housekeeping failed; will retry later')
    return every(everyMs, attempt, onFault)
  }
  const restingInTurn = (task: string, everyMs: number, run: () => Promise<unknown>) => {
    let restsUntilMs = 0
    return inTurn(task, everyMs, async () => {
      const startedMs = performance.now()
      if (startedMs < restsUntilMs) return
      await run()
      const endedMs = performance.now()
      restsUntilMs = endedMs + Math.min(REST_MS_MAX, REST_TIMES * (endedMs - startedMs))
    })
  }
  const timers = [
    inTurn('expired people data', SWEEP_MS, () => sweepPeople(people)),
    inTurn('counted keys', KEY_TOTALS_MS, () => updateKeyTotals(sql, stopping.signal)),
    restingInTurn('found alerts', ALERT_MS, () => findAlerts(alerts)),
    inTurn('found daily alerts', SLOW_ALERT_MS, () =>
      runAll([() => findSlowAlerts(alerts), () => sweepAlerts(alerts)]),
    ),
    inTurn('sent alerts', DELIVER_MS, () => sendMails(alerts)),
    inTurn('posted alerts', DELIVER_MS, () => postWebhooks(alerts)),
    restingInTurn('rolled up calls', ROLL_UP_MS, () => rollUpCalls(sql, { signal: stopping.signal })),
    inTurn('summed days', ROLL_UP_MS, () => sumDays(sql, { signal: stopping.signal })),
    restingInTurn('rolled up accounts', ROLL_UP_MS, () => rollUpAccounts(sql, { signal: stopping.signal })),
    inTurn('undecided transfers', JUDGE_MS, () => judgeUndecided(payments)),
    ...sources.map(source =>
      inTurn(`transfers listed by ${source.name}`, payments.limits.pullPauseSeconds * 1000, () =>
        pullTransactions(payments, source, new Date()),
      ),
    ),
  ]
  return {
    people,
    payments,
    alerts,
    providers,
    outboxDir,
    mails: () => counted.metrics(),
    async close() {
      stopping.abort()
      await Promise.all(timers.map(stop => stop()))
      mailer.close()
      await webhookClient.close()
    },
  }
}

function outboxOf({ mail, dataDir }: Config): string | null {
  return mail.smtpUrl === null ? join(dataDir, 'outbox') : null
}

export function createMailer(config: Config): Mailer {
  const { smtpUrl, from } = config.mail
  const folder = outboxOf(config)
  return folder === null ? createSmtpMailer({ url: smtpUrl as string, from }) : createOutboxMailer({ folder, from })
}

/**
 * Runs `task` after a second and then again and again, with a pause after each run. The returned function stops it and waits
 * for the current run.
 */
function every(pauseMs: number, task: () => Promise<unknown>, onFault: (cause: unknown) => void): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  let timer = setTimeout(run, 1_000)
  function run(): void {
    running = task()
      .catch(onFault)
      .then(() => {
        if (!stopped) timer = setTimeout(run, pauseMs)
      })
  }
  return () => {
    stopped = true
    clearTimeout(timer)
    return running
  }
}
