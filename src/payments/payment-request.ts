/**
 * What the top-up page shows of an open order: where to transfer, how much, with which memo, and the same as a QR code.
 */

import { renderQrSvg } from './qr-svg.ts'
import type { BankAccount, PaymentServices, TopUpOrder } from './types.ts'
import { encodeVietQr } from './vietqr.ts'

export interface PaymentRequest {
  readonly bank: BankAccount
  readonly amountVnd: number
  /** Payers should copy it exactly; if a bank mangles it, the order is still found. */
  readonly memo: string
  /** Payload of the QR code. */
  readonly payload: string
  readonly svg: string
}

/** Null when no bank account is configured. */
export function paymentRequest({ bank }: Pick<PaymentServices, 'bank'>, order: TopUpOrder): PaymentRequest | null {
  if (bank === null) return null
  const { amountVnd, orderCode: memo } = order
  const payload = encodeVietQr({ bin: bank.bin, accountNumber: bank.accountNumber, amountVnd, memo })
  return { bank, amountVnd, memo, payload, svg: renderQrSvg(payload) }
}
