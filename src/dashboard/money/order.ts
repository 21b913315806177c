/** One top-up order: QR code, transfer details, and its state, which updates by itself. */

import type { Language } from '../../accounts/types.ts'
import { readBalance } from '../../ledger/reports/balance.ts'
import { ZERO_MICRO_VND } from '../../lib/money.ts'
import { bankApps } from '../../payments/bank-apps.ts'
import { listOrderTransfers } from '../../payments/order-receipt.ts'
import { cancelOrder, readOrder } from '../../payments/orders.ts'
import { type PaymentRequest, paymentRequest } from '../../payments/payment-request.ts'
import { renderQrPng } from '../../payments/qr-png.ts'
import { simulateTransfer } from '../../payments/simulate.ts'
import type { TopUpOrder } from '../../payments/types.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { dong } from '../view/format.ts'
import { orderView } from './top-up.ts'

export const ORDER_PAGES: readonly Page[] = [
  { method: 'GET', path: '/topup/:code', authentication: 'session', purpose: 'QR code and state', handle: show },
  {
    method: 'GET',
    path: '/topup/:code/qr.png',
    authentication: 'session',
    purpose: 'The QR code to save',
    handle: picture,
  },
  { method: 'GET', path: '/topup/:code/state', authentication: 'session', purpose: 'The state alone', handle: state },
  { method: 'POST', path: '/topup/:code/cancel', authentication: 'session', purpose: 'Cancels it', handle: cancel },
  {
    method: 'POST',
    path: '/topup/:code/simulate',
    authentication: 'session',
    purpose: 'A transfer in the sandbox',
    handle: simulate,
  },
]

function findOrder(request: PageRequest): Promise<TopUpOrder | null> {
  const { accountId } = signedIn(request)
  return readOrder(request.options.payments, { accountId, orderCode: request.params.code ?? '' })
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, language } = request
  const order = await findOrder(request)
  if (order === null) return NOT_FOUND
  const { bank } = options.payments
  const payment = order.state === 'open' ? paymentRequest(options.payments, order) : null
  const returnUrl = `${options.publicUrl}/topup/${order.orderCode}`
  return {
    kind: 'page',
    template: 'order',
    title: text(language, 'topup.order.title', { amount: dong(order.amountVnd) }),
    section: 'topup',
    ...(payment !== null && { scripts: ['order.js'] }),
    data: {
      order,
      payment,
      apps: payment === null || bank === null ? [] : bankApps(bank, order, returnUrl),
      amountText: String(order.amountVnd),
      allText: payment === null ? '' : allText(request, payment),
      transfers: order.state === 'paid' ? await listOrderTransfers(options.sql, order) : [],
      canSimulate: options.payments.simulation && request.isLocal && order.state === 'open',
      ...(await stateData(request, order)),
    },
  }
}

/** Everything that a transfer needs, one item per line, to be copied with one tap. */
function allText({ language }: PageRequest, { bank, amountVnd, memo }: PaymentRequest): string {
  const lines = [
    [text(language, 'topup.bank'), bank.bankName],
    [text(language, 'topup.account'), bank.accountNumber],
    [text(language, 'topup.holder'), bank.accountName],
    [text(language, 'topup.transfer_amount'), String(amountVnd)],
    [text(language, 'topup.memo'), memo],
  ]
  return lines.flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`])).join('\n')
}

async function picture(request: PageRequest): Promise<Answer> {
  const order = await findOrder(request)
  const payment = order?.state === 'open' ? paymentRequest(request.options.payments, order) : null
  if (payment === null) return NOT_FOUND
  return {
    kind: 'file',
    contentType: 'image/png',
    body: renderQrPng(payment.payload),
    fileName: `${payment.memo}.png`,
  }
}

/** Whether the order has changed, asked every few seconds while it is open. */
async function state(request: PageRequest): Promise<Answer> {
  const order = await findOrder(request)
  if (order === null) return NOT_FOUND
  // Once the payment has arrived, the whole page has to change, because the QR code disappears. Until then nothing may change:
  // screen readers would read out the same words every few seconds.
  if (!request.isScripted || order.state !== 'open') return { kind: 'redirect', to: `/topup/${order.orderCode}` }
  return { kind: 'unchanged' }
}

async function stateData({ options, language }: PageRequest, order: TopUpOrder) {
  const balance = order.state === 'paid' ? await readBalance(options.sql, order.accountId) : null
  return {
    ...orderView(order),
    remark: order.state === 'paid' ? remarkOf(language, order) : null,
    balance: balance?.balanceMicroVnd ?? ZERO_MICRO_VND,
  }
}

/** Remarks on a payment that was credited although it was too small, too large, late, or for a cancelled order; or null. */
function remarkOf(language: Language, order: TopUpOrder): string | null {
  const { amountVnd, paidVnd, firstPaidAt, expiresAt, cancelledAt } = order
  const remarks: string[] = []
  if (paidVnd < amountVnd) {
    const values = { ordered: dong(amountVnd), missing: dong(amountVnd - paidVnd) }
    remarks.push(text(language, 'topup.arrived.short', values))
  }
  if (paidVnd > amountVnd) remarks.push(text(language, 'topup.arrived.more', { ordered: dong(amountVnd) }))
  if (cancelledAt !== null) remarks.push(text(language, 'topup.arrived.cancelled'))
  else if (firstPaidAt !== null && firstPaidAt > expiresAt) remarks.push(text(language, 'topup.arrived.late'))
  return remarks.length === 0 ? null : remarks.join(' ')
}

async function cancel(request: PageRequest): Promise<Answer> {
  const order = await findOrder(request)
  if (order === null) return NOT_FOUND
  await cancelOrder(request.options.payments, order)
  return { kind: 'redirect', to: '/topup' }
}

async function simulate(request: PageRequest): Promise<Answer> {
  const { options, params } = request
  const { accountId } = signedIn(request)
  const orderCode = params.code ?? ''
  // A second click finds the order already paid, so nothing is paid twice.
  const order = request.isLocal ? await findOrder(request) : null
  if (order === null) return NOT_FOUND
  if (order.state === 'open' && (await simulateTransfer(options.payments, { accountId, orderCode })) === null) {
    return NOT_FOUND
  }
  return { kind: 'redirect', to: `/topup/${orderCode}` }
}
