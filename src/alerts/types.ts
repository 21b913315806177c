/** What the alert code needs from the application. */

import type { KeySecrets } from '../accounts/key-secret.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Sql } from '../lib/database.ts'
import type { Mailer } from '../lib/mail.ts'
import type { DeliveryCounts } from './delivery-counts.ts'
import type { AlertLimits } from './limits.ts'
import type { WebhookClient } from './webhook-client.ts'

export interface AlertServices {
  readonly sql: Sql
  readonly mailer: Mailer
  readonly catalogue: Pick<Catalogue, 'items'>
  readonly secrets: Pick<KeySecrets, 'peppers' | 'encryption'>
  readonly webhookClient: WebhookClient
  /** How long a receiver has to answer, in ms. */
  readonly webhookTimeoutMs: number
  /** Base URL of our pages, without a trailing slash. */
  readonly publicUrl: string
  /** The service's name in emails. */
  readonly serviceName: string
  readonly limits: AlertLimits
  readonly counts: DeliveryCounts
  /** The time in ms since 1970. */
  readonly nowMs: () => number
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
  /** Reports a delivery that failed on our side; the message contains no address. */
  readonly report: (message: string, cause: unknown) => void
}
