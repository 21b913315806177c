/** The kinds of credits: top-ups, adjustments and refunds. */

/** Numbers stored in the table `credit`. Never reuse one. */
export const CREDIT_KINDS = { bank_topup: 1, adjustment: 2, refund: 3 } as const
export type CreditKind = keyof typeof CREDIT_KINDS

/** The kind that a number in the table `credit` stands for. */
export function creditKindOf(code: number): CreditKind {
  return KINDS_BY_CODE.get(code) as CreditKind
}

const KINDS_BY_CODE = new Map<number, CreditKind>(
  Object.entries(CREDIT_KINDS).map(([name, code]) => [code, name as CreditKind]),
)
