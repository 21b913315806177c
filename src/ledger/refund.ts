/** Credits the charge of a call back to the account, at most once, because the credit's reference names the call. */

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
  /** `already`: the call had been refunded before. */
  | { readonly outcome: 'refunded' | 'already'; readonly amountMicroVnd: MicroVnd }
  /** The call was not charged, belongs to another account, or is so old that its usage row has been deleted. */
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
