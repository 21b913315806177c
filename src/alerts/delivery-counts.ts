/** Counts for the metrics: alert deliveries by outcome, webhooks switched off, and how late the oldest delivery is. */

import type { AnySql } from '../lib/database.ts'

const CHANNELS = ['mail', 'webhook'] as const
/** `called_off`: there is nobody left to deliver to. `given_up`: it failed and will not be retried. */
const OUTCOMES = ['delivered', 'failed', 'given_up', 'called_off'] as const
/** Why webhooks were switched off, as in the table `webhook`. Those that owners switch off themselves are not counted. */
const REASONS = ['failures', 'gone'] as const

type Channel = (typeof CHANNELS)[number]
export type DeliveryOutcome = (typeof OUTCOMES)[number]
export type DisabledReason = (typeof REASONS)[number]

export class DeliveryCounts {
  readonly #attempts = new Map(CHANNELS.map(channel => [channel, new Map(OUTCOMES.map(outcome => [outcome, 0]))]))
  readonly #disabled = new Map(REASONS.map(reason => [reason, 0]))

  countAttempt(channel: Channel, outcome: DeliveryOutcome): void {
    const counts = this.#attempts.get(channel) as Map<DeliveryOutcome, number>
    counts.set(outcome, (counts.get(outcome) as number) + 1)
  }

  disabled(reason: DisabledReason): void {
    this.#disabled.set(reason, (this.#disabled.get(reason) as number) + 1)
  }

  get attempts(): readonly (readonly [{ channel: Channel; outcome: DeliveryOutcome }, number])[] {
    return [...this.#attempts].flatMap(([channel, counts]) =>
      [...counts].map(([outcome, count]) => [{ channel, outcome }, count] as const),
    )
  }

  get disabledWebhooks(): readonly (readonly [{ reason: DisabledReason }, number])[] {
    return [...this.#disabled].map(([reason, count]) => [{ reason }, count] as const)
  }
}

/** A delivery in progress becomes due again only when its claim expires, because its process must then have died. */
const OVERDUE = `select coalesce(extract(epoch from now() - min(next_at)), 0)::double precision as seconds
  from alert_delivery where state = 0 and next_at <= now()`

/** How long the oldest delivery has been due, in seconds; 0 if none is due. */
export async function overdueSeconds({ sql }: { readonly sql: AnySql }): Promise<number> {
  const [row] = await sql.unsafe(OVERDUE)
  return row!.seconds
}
