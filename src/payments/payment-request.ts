/** What the top-up page shows of an open order: where to transfer, how much, with which memo, and all of it as a QR code. */

import { renderQrSvg } from './qr-svg.ts'
import type { BankAccount, PaymentServices, TopUpOrder } from './types.ts'
import { encodeVietQr } from './vietqr.ts'

export interface PaymentRequest {
  readonly bank: BankAccount
  readonly amountVnd: number
  /** To be written as it is; banks may mangle it, and it is found all the same. */
  readonly memo: string
  /** Text of the QR code. */
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
