/** All limits on alerts, and the values that gateways use. */

export interface AlertLimits {
  /**
   * Balance that counts as low by default, in whole dong. If a fifth of the balance after the last top-up is less, that amount
   * counts instead.
   */
  readonly lowVnd: number
  /** A balance also counts as low if it will last fewer days than this. */
  readonly lowDays: number
  /** Percentages of a key's limit at which an alert is sent. */
  readonly capPercents: readonly [80, 100]
  /** Notice given before a model retires, in days. */
  readonly retiringDays: readonly [7, 30]
  /** Each search for alerts goes back this far before the previous search, because transactions may have committed late. */
  readonly overlapSeconds: number
  /** An account with this many alerts within a day is not emailed about any further ones. */
  readonly mailsPerDayMax: number
  /** How long alerts and their deliveries are kept. */
  readonly keptSeconds: number
  /** Maximum number of emails in progress at once. */
  readonly parallelMax: number
  /** Maximum number of posts to webhooks in progress at once, in total and for one account. */
  readonly postsMax: number
  readonly postsPerAccountMax: number
  /** Maximum number of deliveries tried in one run. */
  readonly runMax: number
  /** How long a delivery belongs to the process that claimed it. Must exceed the time that any delivery takes. */
  readonly claimSeconds: number
  /** How long to try to store how a delivery ended, in ms, while Postgres is away. */
  readonly finishMs: number
  /** Pauses before each retry of an email. */
  readonly mailPausesSeconds: readonly number[]
  /** Pauses before each retry of a webhook delivery; after the last retry, the webhook may be switched off. */
  readonly webhookPausesSeconds: readonly number[]
  /** Longest pause that a webhook's receiver may request with `retry-after`. */
  readonly webhookPauseSecondsMax: number
  readonly webhooksMax: number
  /** Test deliveries that one account may send within an hour. */
  readonly webhookTestsMax: number
  /** How long a replaced secret still signs a webhook's deliveries. */
  readonly webhookOverlapSeconds: number
  readonly deliveriesShown: number
  readonly statementTimeoutMs: number
}

const MINUTE = 60
const HOUR = 3_600

export const ALERT_LIMITS: AlertLimits = {
  lowVnd: 50_000,
  lowDays: 3,
  capPercents: [80, 100],
  retiringDays: [7, 30],
  overlapSeconds: 10 * MINUTE,
  mailsPerDayMax: 100,
  keptSeconds: 90 * 86_400,
  parallelMax: 8,
  postsMax: 32,
  postsPerAccountMax: 2,
  runMax: 500,
  claimSeconds: 2 * MINUTE,
  finishMs: 10 * MINUTE * 1_000,
  mailPausesSeconds: [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR],
  webhookPausesSeconds: [5, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map(hours => hours * HOUR)],
  webhookPauseSecondsMax: 24 * HOUR,
  webhooksMax: 5,
  webhookTestsMax: 20,
  webhookOverlapSeconds: 24 * HOUR,
  deliveriesShown: 50,
  statementTimeoutMs: 30_000,
}
