/** Every limit on payments in one place, with the values that a gateway runs with. */

export interface PaymentLimits {
  /** Smallest and largest amount of an order, in whole dong. Money that arrives is credited whatever its amount. */
  readonly orderVndMin: number
  readonly orderVndMax: number
  readonly orderSeconds: number
  /** Open orders of one account. */
  readonly openOrdersMax: number
  /** A larger transfer waits for an operator. */
  readonly creditVndMax: bigint
  /** Time in which a bank gives a reference to one transfer only. */
  readonly referenceSeconds: number
  /** Largest body of a notification. */
  readonly notificationBytesMax: number
  /** Transactions in one notification. */
  readonly transactionsMax: number
  /** Difference between a notification's time and ours. */
  readonly notificationAgeSecondsMax: number
  /** A service that lists transactions is asked so often, for those of the window. */
  readonly pullPauseSeconds: number
  readonly pullWindowSeconds: number
  /** Pages of one asking, and the time and size of one page. */
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
