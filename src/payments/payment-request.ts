/**
 * Prepares what the top-up page shows for an open order: the details of the bank transfer (account, amount, memo), and a QR
 * code that contains them.
 */

import { renderQrSvg } from './qr-svg.ts'
import type { BankAccount, PaymentServices, TopUpOrder } from './types.ts'
import { encodeVietQr } from './vietqr.ts'

export interface PaymentRequest {
  readonly bank: BankAccount
  readonly amountVnd: number
  /** Payers should copy the memo exactly, but the order is found even if a bank mangles it. */
  readonly memo: string
  /** Text encoded in the QR code. */
  readonly payload: string
  readonly svg: string
}

/** Null if no bank account is configured. */
export function paymentRequest({ bank }: Pick<PaymentServices, 'bank'>, order: TopUpOrder): PaymentRequest | null {
  if (bank === null) return null
  const { amountVnd, orderCode: memo } = order
  const payload = encodeVietQr({ bin: bank.bin, accountNumber: bank.accountNumber, amountVnd, memo })
  return { bank, amountVnd, memo, payload, svg: renderQrSvg(payload) }
}
