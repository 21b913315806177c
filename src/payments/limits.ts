/** All limits on payments, and their values in production. */

export interface PaymentLimits {
  /** Minimum amount of an order, in whole dong; `orderVndMax` is the maximum. Transfers can be for any amount. */
  readonly orderVndMin: number
  readonly orderVndMax: number
  readonly orderSeconds: number
  readonly openOrdersMax: number
  /** Maximum number of unpaid orders that an account may create within 24 hours, cancelled ones included. */
  readonly unpaidOrdersPerDayMax: number
  /** A transfer larger than this waits for an operator. */
  readonly creditVndMax: bigint
  /**
   * If a provider repeats a bank reference within this time, an operator decides whether it is the same transfer. Reports of two
   * providers are only paired if they are less than this apart.
   */
  readonly referenceSeconds: number
  readonly notificationBytesMax: number
  readonly transactionsMax: number
  /** Maximum number of object members in a notification that has to be rewritten, sorted, before its signature can be checked. */
  readonly sortedMembersMax: number
  /** Largest difference between a notification's timestamp and our clock. */
  readonly notificationAgeSecondsMax: number
  /** Pause between two polls of a service that lists transactions. Each poll covers the last `pullWindowSeconds`. */
  readonly pullPauseSeconds: number
  readonly pullWindowSeconds: number
  /** Maximum number of pages per poll; `pullTimeoutMs` and `pullBytesMax` apply to each page. */
  readonly pullPagesMax: number
  readonly pullTimeoutMs: number
  readonly pullBytesMax: number
}

export const PAYMENT_LIMITS: PaymentLimits = {
  orderVndMin: 50_000,
  orderVndMax: 499_000_000,
  orderSeconds: 24 * 3_600,
  openOrdersMax: 10,
  unpaidOrdersPerDayMax: 100,
  creditVndMax: 1_000_000_000n,
  referenceSeconds: 7 * 24 * 3_600,
  notificationBytesMax: 256 * 1024,
  transactionsMax: 200,
  sortedMembersMax: 1_000,
  notificationAgeSecondsMax: 300,
  pullPauseSeconds: 300,
  pullWindowSeconds: 48 * 3_600,
  pullPagesMax: 200,
  pullTimeoutMs: 20_000,
  pullBytesMax: 2 * 1024 * 1024,
}
