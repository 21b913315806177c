/** One webhook: the alerts that it gets, its secret, a test, and the log of its deliveries. */

import { testWebhook } from '../../alerts/deliver.ts'
import type { WebhookRow } from '../../alerts/webhook-secrets.ts'
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  type LoggedDelivery,
  listDeliveries,
  readWebhook,
  rotateWebhookSecret,
  setWebhookKinds,
  type Webhook,
} from '../../alerts/webhooks.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { isTextKey, text } from '../texts/index.ts'
import { time } from '../view/format.ts'
import { ALERTS_PATH, alertsPage, kindKey, kindsFor, webhookView } from './alerts.ts'

const PATH = '/account/webhooks'
const ONE = `${PATH}/:id`
const post = (path: string, purpose: string, handle: Page['handle']): Page => ({
  method: 'POST',
  path,
  authentication: 'session',
  purpose,
  handle,
})

export const WEBHOOK_PAGES: readonly Page[] = [
  post(PATH, 'Adds a webhook and shows its secret', add),
  { method: 'GET', path: ONE, authentication: 'session', purpose: 'One webhook and its deliveries', handle: show },
  post(ONE, 'Chooses what it gets', choose),
  post(`${ONE}/test`, 'Sends a test', sendTest),
  post(`${ONE}/secret`, 'Makes a new secret and shows it', rotate),
  post(`${ONE}/enable`, 'Switches it on', request => change(request, row => enableWebhook(request.options.sql, row))),
  post(`${ONE}/disable`, 'Switches it off', request =>
    change(request, row => disableWebhook(request.options.sql, row, 'owner')),
  ),
  post(`${ONE}/delete`, 'Deletes it', remove),
]

const URL_CHARACTERS_MAX = 2_000

async function add(request: PageRequest): Promise<Answer> {
  const { options, language, form } = request
  const { accountId } = signedIn(request)
  const url = form.text('url', URL_CHARACTERS_MAX + 1)
  const made = await createWebhook(options.alerts, { accountId, url, kinds: kindsFor(request) })
  if (made.outcome === 'created') return secretPage(request, made.webhook, { secret: made.secret, isFirst: true })
  const { webhooksMax: max } = options.alerts.limits
  return alertsPage(request, { url, urlFault: text(language, `webhook.fault.${made.outcome}`, { max }) })
}

function secretPage(
  { language }: PageRequest,
  { webhookId }: Webhook,
  { secret, isFirst }: { readonly secret: string; readonly isFirst: boolean },
): Answer {
  return {
    kind: 'page',
    template: 'webhook-secret',
    title: text(language, 'webhook.secret'),
    section: 'account',
    secret: true,
    data: { webhookId, secret, isFirst },
  }
}

/** Null if the account has no such webhook. */
async function webhookOf(request: PageRequest): Promise<Webhook | null> {
  const { accountId } = signedIn(request)
  const webhookId = idOf(request.params.id)
  return webhookId === null ? null : readWebhook(request.options.sql, { webhookId, accountId })
}

async function show(request: PageRequest): Promise<Answer> {
  const webhook = await webhookOf(request)
  return webhook === null ? NOT_FOUND : webhookPage(request, webhook, {})
}

interface Feedback {
  readonly notice?: string
  readonly problem?: string
  readonly kindsFault?: string
}

async function webhookPage(request: PageRequest, webhook: Webhook, feedback: Feedback): Promise<Answer> {
  const { options, language, query } = request
  const { limits } = options.alerts
  const deliveries = await listDeliveries(options.sql, webhook, limits.deliveriesShown)
  const view = webhookView(webhook)
  return {
    kind: 'page',
    template: 'webhook',
    title: view.host,
    section: 'account',
    status: feedback.kindsFault === undefined ? 200 : 422,
    data: {
      ...view,
      notice: feedback.notice ?? (query.choice('done', ['saved']) === null ? null : text(language, 'alerts.done')),
      problem: feedback.problem ?? null,
      kindsFault: feedback.kindsFault ?? null,
      kinds: kindsFor(request).map(kind => ({
        kind,
        labelKey: kindKey(kind),
        isOn: webhook.kinds.includes(kind),
      })),
      deliveries: deliveries.map(delivery => ({
        ...delivery,
        labelKey: kindKey(delivery.kind),
        resultKey: `webhook.result.${delivery.state}`,
        tone: TONES[delivery.state],
        reason: reasonText(request, delivery),
        next: delivery.state === 'waiting' ? text(language, 'webhook.log.next', { time: time(delivery.nextAt) }) : null,
      })),
      seconds: options.alerts.webhookTimeoutMs / 1_000,
    },
  }
}

const TONES = { waiting: 'warn', delivered: 'good', given_up: 'bad', called_off: '' } as const

/** Why a delivery failed, in words; null if nothing went wrong. */
function reasonText(
  { language }: PageRequest,
  { fault, status }: Pick<LoggedDelivery, 'fault' | 'status'>,
): string | null {
  const key = `webhook.reason.${fault}`
  return fault !== null && isTextKey(key) ? text(language, key, { status }) : null
}

async function choose(request: PageRequest): Promise<Answer> {
  const webhook = await webhookOf(request)
  if (webhook === null) return NOT_FOUND
  const kinds = kindsFor(request).filter(kind => request.form.has(kind))
  if (kinds.length === 0) {
    const kindsFault = text(request.language, 'webhook.fault.kinds')
    return webhookPage(request, { ...webhook, kinds }, { kindsFault })
  }
  await setWebhookKinds(request.options.sql, webhook, kinds)
  return backTo(webhook)
}

/** Waits for the receiver's answer, so that whoever sets up a webhook sees at once what is wrong. */
async function sendTest(request: PageRequest): Promise<Answer> {
  const { options, language } = request
  const webhook = await webhookOf(request)
  if (webhook === null) return NOT_FOUND
  const result = await testWebhook(options.alerts, webhook)
  if (result === null) return webhookPage(request, webhook, { problem: text(language, 'webhook.test.too_many') })
  if (result.outcome === 'delivered') {
    return webhookPage(request, webhook, { notice: text(language, 'webhook.test.ok', { status: result.status }) })
  }
  const reason = reasonText(request, result) ?? ''
  return webhookPage(request, webhook, { problem: text(language, 'webhook.test.failed', { reason }) })
}

async function rotate(request: PageRequest): Promise<Answer> {
  const webhook = await webhookOf(request)
  if (webhook === null) return NOT_FOUND
  const secret = await rotateWebhookSecret(request.options.alerts, webhook)
  return secretPage(request, webhook, { secret, isFirst: false })
}

async function change(request: PageRequest, act: (row: WebhookRow) => Promise<boolean>): Promise<Answer> {
  const webhook = await webhookOf(request)
  if (webhook === null) return NOT_FOUND
  await act(webhook)
  return backTo(webhook)
}

async function remove(request: PageRequest): Promise<Answer> {
  const webhook = await webhookOf(request)
  if (webhook === null) return NOT_FOUND
  await deleteWebhook(request.options, webhook)
  return { kind: 'redirect', to: `${ALERTS_PATH}?done=saved` }
}

function backTo({ webhookId }: WebhookRow): Answer {
  return { kind: 'redirect', to: `${PATH}/${webhookId}?done=saved` }
}
