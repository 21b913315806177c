/** REFUND: gives back what a call was charged, once, by a credit that refers to the call. */

import type { AnySql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { credit } from './credit.ts'

export interface RefundRequest {
  readonly callId: string
  readonly accountId: number
  /** Shown to the customer with the refund. */
  readonly note: string
}

export type RefundAnswer =
  /** `already`: the charge had been given back before. */
  | { readonly outcome: 'refunded' | 'already'; readonly amountMicroVnd: MicroVnd }
  /** The call cost nothing, is not this account's, or its row has been retired. */
  | { readonly outcome: 'nothing' }

const CHARGED = `select charged_micro_vnd from usage where call_id = $1::text::uuid and account_id = $2::text::bigint`

/** The reference of the credit that refunds a call. */
export function refundReference(callId: string): string {
  return `call:${callId}`
}

/**
 * Refunds a call within the caller's transaction. References are unique within an account: of two concurrent refunds, one gets
 * `already`.
 */
export async function refundCall(sql: AnySql, { callId, accountId, note }: RefundRequest): Promise<RefundAnswer> {
  const [row] = await sql.unsafe(CHARGED, [callId, String(accountId)])
  const amountMicroVnd = microVnd(BigInt(row?.charged_micro_vnd ?? 0))
  if (amountMicroVnd === 0n) return { outcome: 'nothing' }
  const reference = refundReference(callId)
  const { outcome } = await credit(sql, { accountId, amountMicroVnd, kind: 'refund', reference, note })
  return { outcome: outcome === 'credited' ? 'refunded' : 'already', amountMicroVnd }
}
