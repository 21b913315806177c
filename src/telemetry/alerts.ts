/** Metric families for alerts: emails and webhooks to customers. */

import type { DeliveryCounts } from '../alerts/delivery-counts.ts'
import { counter, type Family } from '../lib/metrics.ts'

export function alertFamilies({ attempts: tries, disabledWebhooks }: DeliveryCounts): readonly Family[] {
  return [
    counter(
      'gateway_alert_deliveries_total',
      'Attempts to deliver an alert, by channel and outcome; called_off: nobody was left to receive it; given_up: the last attempt failed.',
      tries,
    ),
    counter(
      'gateway_webhooks_disabled_total',
      "Customers' webhooks switched off because every attempt failed, or because the receiver answered 410.",
      disabledWebhooks,
    ),
  ]
}
