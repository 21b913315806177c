/** The buyer named on an invoice. */

/** The customer's invoice details at the time when the money was credited. */
export interface Buyer {
  readonly name: string
  readonly taxCode: string
  readonly address: string
  readonly email: string
}

/** Reads a stored buyer; null if the customer wants no invoice. */
export function readBuyer(value: unknown): Buyer | null {
  const stored = typeof value === 'string' ? (JSON.parse(value) as unknown) : value
  return stored === null || stored === undefined ? null : (stored as Buyer)
}
