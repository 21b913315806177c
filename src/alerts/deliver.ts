/**
 * Sends the deliveries that are due. Any process may do so: a delivery belongs to the process that claimed it, and becomes due
 * again if that process dies.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Language } from '../accounts/types.ts'
import { classifyFault } from '../lib/database.ts'
import { type AlertData, type AlertKind, isAlertKind } from './kinds.ts'
import type { AlertLimits } from './limits.ts'
import { alertMail } from './mail.ts'
import { recordAlerts, SQL_RECORD, TEST_KIND } from './record.ts'
import type { AlertServices } from './types.ts'
import { type DeliveryResult, tryWebhook } from './webhook-delivery.ts'
import { disableWebhook, type Webhook } from './webhooks.ts'

/** Numbers stored in the table `alert_delivery`; never reuse one. */
const STATES = { waiting: 0, delivered: 1, given_up: 2, called_off: 3 } as const

/** Claiming a delivery already counts as a try, so that a delivery that crashes its process is not retried forever. */
const CLAIMED = `
claimed as (
  update alert_delivery d set tries = d.tries + 1, tried_at = now(), next_at = now() + make_interval(secs => $2::text::integer)
    from due where d.delivery_id = due.delivery_id
  returning d.delivery_id, d.alert_id, d.account_id, d.webhook_id, d.tries)
select claimed.*, alert.kind, alert.at, alert.data, account.email, account.language, webhook.url, webhook.disabled_at
  from claimed join alert using (alert_id) left join account on account.account_id = claimed.account_id and blocked_at is null
  left join webhook on webhook.webhook_id = claimed.webhook_id
 order by delivery_id`
const CLAIM_MAILS = `
with due as (
  select delivery_id from alert_delivery where state = 0 and next_at <= now() and webhook_id is null
   order by next_at limit $1::text::integer for update skip locked),${CLAIMED}`
const FINISH_PAUSE_MS = 250
/** The oldest deliveries that take turns. */
const WEIGHED_MAX = 20_000
/**
 * Accounts take turns, those with the least to deliver first, so that slow receivers of one account do not keep back the others.
 * $3: deliveries claimed of one account.
 */
const CLAIM_POSTS = `
with oldest as (
  select delivery_id, account_id, next_at from alert_delivery
   where state = 0 and next_at <= now() and webhook_id is not null order by next_at limit ${WEIGHED_MAX}),
ranked as (
  select delivery_id, next_at as since, row_number() over (partition by account_id order by next_at, delivery_id) as turn,
         count(*) over (partition by account_id) as waiting from oldest),
due as (
  select d.delivery_id from alert_delivery d join ranked using (delivery_id)
   where turn <= $3::text::integer and d.state = 0 and d.next_at <= now()
   order by turn, waiting, since limit $1::text::integer for update of d skip locked),${CLAIMED}`
const CLAIM_ONE = `
with due as (
  select delivery_id from alert_delivery where state = 0 and delivery_id = $1::text::bigint for update skip locked),${CLAIMED}`
const FINISH = `update alert_delivery set state = $2::text::smallint, status = $3::text::smallint, fault = $4,
    next_at = now() + make_interval(secs => $5::text::double precision)
  where delivery_id = $1::text::bigint and state = 0`
const TOOK = 'update webhook set delivered_at = now() where webhook_id = $1::text::bigint'
const LATEST = 'select delivered_at from webhook where webhook_id = $1::text::bigint'
const TEST = `
with test as (
  insert into alert (account_id, kind, reference, data)
  select $2::text::bigint, '${TEST_KIND}', gen_random_uuid()::text, '{}'
   where (select count(*) from alert where account_id = $2::text::bigint and kind = '${TEST_KIND}'
            and at > now() - interval '1 hour') < $3::text::integer
  returning alert_id)
insert into alert_delivery (alert_id, account_id, webhook_id, next_at)
select alert_id, $2::text::bigint, $1::text::bigint, now() + interval '1 hour' from test returning delivery_id`

interface Claimed {
  readonly delivery_id: string
  readonly alert_id: string
  readonly account_id: string
  readonly webhook_id: string | null
  readonly tries: number
  readonly kind: string
  readonly at: Date
  readonly data: AlertData[AlertKind]
  /** Null: the account is deleted or blocked. */
  readonly email: string | null
  readonly language: Language | null
  /** Null: the delivery is an email, or its webhook has been removed. */
  readonly url: string | null
  readonly disabled_at: Date | null
}

/** Sends emails until none is due or `runMax` have been tried. Never waits for a customer's webhook. */
export function sendMails(services: AlertServices): Promise<void> {
  const { sql, limits } = services
  return deliverAll(services, () => sql.unsafe(CLAIM_MAILS, [String(limits.parallelMax), String(limits.claimSeconds)]))
}

/** Posts to webhooks until nothing is due or `runMax` deliveries have been tried. */
export function postWebhooks(services: AlertServices): Promise<void> {
  const { sql, limits } = services
  const bounds = [limits.postsMax, limits.claimSeconds, limits.postsPerAccountMax].map(String)
  return deliverAll(services, () => sql.unsafe(CLAIM_POSTS, bounds))
}

async function deliverAll(services: AlertServices, claim: () => Promise<readonly unknown[]>): Promise<void> {
  for (let tried = 0; tried < services.limits.runMax; ) {
    const claimed = await claim()
    if (claimed.length === 0) return
    await Promise.all(claimed.map(row => deliver(services, row as Claimed)))
    tried += claimed.length
  }
}

/** Sends a test event immediately, without retries, even to a disabled webhook. Null after too many tests within an hour. */
export async function testWebhook(
  services: AlertServices,
  { webhookId, accountId }: Webhook,
): Promise<DeliveryResult | null> {
  const { sql, limits } = services
  const ids = [String(webhookId), String(accountId)]
  const [queued] = await sql.unsafe(TEST, [...ids, String(limits.webhookTestsMax)])
  if (queued === undefined) return null
  const [claimed] = await sql.unsafe(CLAIM_ONE, [queued.delivery_id, String(limits.claimSeconds)])
  return claimed === undefined ? null : deliver(services, claimed as unknown as Claimed)
}

async function deliver(services: AlertServices, claimed: Claimed): Promise<DeliveryResult> {
  const result = await (isSpent(services, claimed) ? giveUp : claimed.webhook_id === null ? sendMail : post)(
    services,
    claimed,
  )
  const pauseSeconds = result.outcome === 'failed' ? pauseOf(services, claimed, result) : null
  const { outcome, status, fault } = result
  const state =
    outcome === 'delivered' || outcome === 'called_off' ? outcome : pauseSeconds === null ? 'given_up' : 'waiting'
  await finish(services, [
    claimed.delivery_id,
    String(STATES[state]),
    status === null ? null : String(status),
    fault,
    String(pauseSeconds ?? 0),
  ])
  services.counts.countAttempt(claimed.webhook_id === null ? 'mail' : 'webhook', state === 'waiting' ? 'failed' : state)
  if (claimed.webhook_id !== null && claimed.kind !== TEST_KIND)
    await judgeWebhook(services, claimed, { state, outcome })
  return result
}

/**
 * Stores how an attempt ended. While Postgres is away, tries again and again: if its claim expired without that, a delivery that
 * has succeeded would be sent once more.
 */
async function finish({ sql, limits, stopping }: AlertServices, row: readonly (string | null)[]): Promise<void> {
  const untilMs = performance.now() + limits.finishMs
  for (;;) {
    try {
      await sql.unsafe(FINISH, [...row])
      return
    } catch (cause) {
      if (classifyFault(cause) !== 'retry' || stopping.aborted || performance.now() >= untilMs) throw cause
    }
    await sleep(FINISH_PAUSE_MS, undefined, { signal: stopping }).catch(() => {})
  }
}

/** True if every attempt has been made, and the last ones ended with their process. */
function isSpent({ limits }: AlertServices, claimed: Claimed): boolean {
  return claimed.tries > pausesOf(limits, claimed).length + 1
}

async function giveUp(): Promise<DeliveryResult> {
  return { outcome: 'failed', status: null, fault: 'process' }
}

function pausesOf(limits: AlertLimits, { webhook_id }: Claimed): readonly number[] {
  return webhook_id === null ? limits.mailPausesSeconds : limits.webhookPausesSeconds
}

/** Seconds until the next attempt; null if there is none. */
function pauseOf(
  { limits }: AlertServices,
  claimed: Claimed,
  { retryAfterSeconds = 0 }: DeliveryResult,
): number | null {
  if (claimed.kind === TEST_KIND) return null
  const pause = pausesOf(limits, claimed)[claimed.tries - 1]
  if (pause === undefined) return null
  // Adds jitter, so that deliveries which failed together are not retried together.
  const wait = pause * (claimed.webhook_id === null ? 1 : 1 + Math.random() / 10)
  return Math.max(wait, Math.min(retryAfterSeconds, limits.webhookPauseSecondsMax))
}

async function sendMail(services: AlertServices, claimed: Claimed): Promise<DeliveryResult> {
  const { kind, data, email, language } = claimed
  if (email === null || !isAlertKind(kind)) return { outcome: 'called_off', status: null, fault: null }
  try {
    const to = { accountId: Number(claimed.account_id), email, language: language ?? 'vi' } as const
    await services.mailer.send(alertMail(services, { ...to, kind, data }))
    return { outcome: 'delivered', status: null, fault: null }
  } catch (cause) {
    services.report('could not send an email', cause)
    return { outcome: 'failed', status: null, fault: 'mail' }
  }
}

async function post(services: AlertServices, claimed: Claimed): Promise<DeliveryResult> {
  const { kind, data, at, url, email } = claimed
  const isOff = claimed.disabled_at !== null && kind !== TEST_KIND
  if (url === null || email === null || isOff) return { outcome: 'called_off', status: null, fault: null }
  const row = { webhookId: Number(claimed.webhook_id), accountId: Number(claimed.account_id) }
  return tryWebhook(services, { ...row, url, alertId: claimed.alert_id, kind, at, data })
}

const DISABLED = `
with found as (
  select account_id, 'webhook.disabled' as kind, format('webhook %s at %s', webhook_id, disabled_at) as reference,
         jsonb_build_object('webhook_id', webhook_id, 'host', $4::text, 'reason', disabled_for) as data
    from webhook where webhook_id = $3::text::bigint)${SQL_RECORD}`

/**
 * Updates the webhook after an attempt. Disables it if its receiver answered 410 Gone, or if a delivery has run out of attempts
 * and the receiver has accepted nothing since the alert of that delivery was recorded.
 */
async function judgeWebhook(
  services: AlertServices,
  claimed: Claimed,
  { state, outcome }: { readonly state: keyof typeof STATES; readonly outcome: DeliveryResult['outcome'] },
): Promise<void> {
  const { sql } = services
  const webhookId = claimed.webhook_id as string
  if (state === 'delivered') await sql.unsafe(TOOK, [webhookId])
  if (state !== 'given_up') return
  const row = { webhookId: Number(webhookId), accountId: Number(claimed.account_id) }
  const reason = outcome === 'gone' ? 'gone' : 'failures'
  const isDisabled = await sql.begin(async transaction => {
    const [webhook] = await transaction.unsafe(LATEST, [webhookId])
    if (webhook === undefined || (reason === 'failures' && webhook.delivered_at > claimed.at)) return false
    if (!(await disableWebhook(transaction, row, reason))) return false
    const host = new URL(claimed.url as string).host
    await recordAlerts({ ...services, sql: transaction }, DISABLED, [webhookId, host])
    return true
  })
  if (isDisabled) services.counts.disabled(reason)
}
