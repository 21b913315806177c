/** The alerts' interface to the rooms above. */

import type { KeySecrets } from '../accounts/key-secret.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Sql } from '../lib/database.ts'
import type { Mailer } from '../lib/mail.ts'
import type { DeliveryCounts } from './delivery-counts.ts'
import type { AlertLimits } from './limits.ts'
import type { WebhookClient } from './webhook-client.ts'

/** Created once per process. */
export interface AlertServices {
  readonly sql: Sql
  readonly mailer: Mailer
  readonly catalogue: Pick<Catalogue, 'items'>
  readonly secrets: Pick<KeySecrets, 'peppers' | 'encryption'>
  readonly webhookClient: WebhookClient
  /** How long a receiver has for its answer. */
  readonly webhookTimeoutMs: number
  /** Without a trailing slash. */
  readonly publicUrl: string
  /** Name that signs mails. */
  readonly serviceName: string
  readonly limits: AlertLimits
  readonly counts: DeliveryCounts
  /** Unix time. */
  readonly nowMs: () => number
  /** Reports a delivery that failed on our side; contains no address. */
  readonly report: (message: string, cause: unknown) => void
}
