/** One top-up order: QR code, transfer details, and its state, which updates by itself. */

import { readBalance } from '../../ledger/reports/balance.ts'
import { ZERO_MICRO_VND } from '../../lib/money.ts'
import { cancelOrder, readOrder } from '../../payments/orders.ts'
import { paymentRequest } from '../../payments/payment-request.ts'
import { simulateTransfer } from '../../payments/simulate.ts'
import type { TopUpOrder } from '../../payments/types.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { dong } from '../view/format.ts'

export const ORDER_PAGES: readonly Page[] = [
  { method: 'GET', path: '/topup/:code', authentication: 'session', purpose: 'QR code and state', handle: show },
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
  const payment = order.state === 'open' ? paymentRequest(options.payments, order) : null
  return {
    kind: 'page',
    template: 'order',
    title: text(language, 'topup.order.title', { amount: dong(order.amountVnd) }),
    section: 'topup',
    data: {
      order,
      payment,
      amountText: String(order.amountVnd),
      canSimulate: options.payments.simulation && request.isLocal && order.state === 'open',
      ...(await stateData(request, order)),
    },
  }
}

/** Polled every few seconds while the order is open. */
async function state(request: PageRequest): Promise<Answer> {
  const order = await findOrder(request)
  if (order === null) return NOT_FOUND
  // The payment has arrived: the whole page changes and the QR code disappears.
  if (!request.isFragment || order.state !== 'open') return { kind: 'redirect', to: `/topup/${order.orderCode}` }
  return { kind: 'fragment', template: 'order-state', data: await stateData(request, order) }
}

async function stateData({ options }: PageRequest, order: TopUpOrder) {
  const { orderCode, expiresAt, paidVnd } = order
  const balance = order.state === 'paid' ? await readBalance(options.sql, order.accountId) : null
  return {
    orderCode,
    state: order.state,
    stateKey: `topup.state.${order.state}`,
    expiresAt,
    paidVnd,
    balance: balance?.balanceMicroVnd ?? ZERO_MICRO_VND,
  }
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
  // A second click finds the order paid, and does not pay it again.
  const order = request.isLocal ? await findOrder(request) : null
  if (order === null) return NOT_FOUND
  if (order.state === 'open' && (await simulateTransfer(options.payments, { accountId, orderCode })) === null) {
    return NOT_FOUND
  }
  return { kind: 'redirect', to: `/topup/${orderCode}` }
}
