/** All limits on payments, with the values that a gateway uses. */

export interface PaymentLimits {
  /** Smallest and largest amount of an order, in whole dong. Transfers are credited whatever their amount. */
  readonly orderVndMin: number
  readonly orderVndMax: number
  readonly orderSeconds: number
  /** Open orders per account. */
  readonly openOrdersMax: number
  /** A larger transfer waits for an operator. */
  readonly creditVndMax: bigint
  /** For how long a bank reference identifies a single transfer. */
  readonly referenceSeconds: number
  /** Largest body of a notification. */
  readonly notificationBytesMax: number
  /** Transactions per notification. */
  readonly transactionsMax: number
  /** Largest difference between a notification's clock and ours. */
  readonly notificationAgeSecondsMax: number
  /** How often a service that lists transactions is polled, and for which window. */
  readonly pullPauseSeconds: number
  readonly pullWindowSeconds: number
  /** Pages per poll; time and size limits per page. */
  readonly pullPagesMax: number
  readonly pullTimeoutMs: number
  readonly pullBytesMax: number
}

export const PAYMENT_LIMITS: PaymentLimits = {
  orderVndMin: 50_000,
  orderVndMax: 499_000_000,
  orderSeconds: 24 * 3_600,
  openOrdersMax: 10,
  creditVndMax: 1_000_000_000n,
  referenceSeconds: 7 * 24 * 3_600,
  notificationBytesMax: 256 * 1024,
  transactionsMax: 200,
  notificationAgeSecondsMax: 300,
  pullPauseSeconds: 300,
  pullWindowSeconds: 48 * 3_600,
  pullPagesMax: 200,
  pullTimeoutMs: 20_000,
  pullBytesMax: 2 * 1024 * 1024,
}
