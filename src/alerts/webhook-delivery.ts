/** Tries to deliver one alert to a webhook, signed as standardwebhooks.com describes. */

import type { AlertServices } from './types.ts'
import { readWebhookSecrets, signWebhook } from './webhook-secrets.ts'

export interface WebhookDelivery {
  readonly webhookId: number
  readonly accountId: number
  readonly url: string
  /** Stays the same when a delivery is retried. */
  readonly alertId: string
  readonly kind: string
  readonly at: Date
  readonly data: unknown
}

/** Outcome of one attempt to deliver an alert, by email or to a webhook. */
export interface DeliveryResult {
  /**
   * `called_off`: nobody is left to deliver to. `gone`: the receiver answered 410, which means that it wants no more alerts.
   */
  readonly outcome: 'delivered' | 'failed' | 'called_off' | 'gone'
  readonly status: number | null
  /** What went wrong, in one word for the delivery log; null if nothing did. */
  readonly fault: string | null
  /** The receiver's `retry-after`; 0 if it sent none. */
  readonly retryAfterSeconds?: number
}

export async function tryWebhook(services: AlertServices, given: WebhookDelivery): Promise<DeliveryResult> {
  const { sql, secrets, webhookClient, serviceName, nowMs } = services
  let keys: readonly string[]
  try {
    keys = await readWebhookSecrets(sql, secrets.encryption, given)
  } catch (cause) {
    services.report('cannot open the secret of a webhook', cause)
    return { outcome: 'failed', status: null, fault: 'secret' }
  }
  const body = JSON.stringify({ type: given.kind, timestamp: given.at.toISOString(), data: given.data })
  const timestamp = String(Math.floor(nowMs() / 1_000))
  const answer = await webhookClient.post(
    given.url,
    {
      'content-type': 'application/json',
      'user-agent': `${serviceName.toLowerCase()}-webhooks/1`,
      'webhook-id': given.alertId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signWebhook(keys, { id: given.alertId, timestamp, body }),
    },
    body,
  )
  if ('fault' in answer) return { outcome: 'failed', status: null, fault: answer.fault }
  const { status } = answer
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, fault: null }
  if (status === 410) return { outcome: 'gone', status, fault: 'gone' }
  const fault = status >= 300 && status < 400 ? 'redirect' : 'status'
  const retryAfterSeconds = /^\d{1,6}$/.test(answer.retryAfter ?? '') ? Number(answer.retryAfter) : 0
  return { outcome: 'failed', status, fault, retryAfterSeconds }
}
