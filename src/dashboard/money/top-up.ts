/** The top-up page, on which customers choose an amount and see their earlier payments. */

import { readBalance } from '../../ledger/reports/balance.ts'
import { readCredits } from '../../ledger/reports/journal.ts'
import { ZERO_MICRO_VND } from '../../lib/money.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import { isOrderCode } from '../../payments/order-code.ts'
import { createOrder, listOrders } from '../../payments/orders.ts'
import type { TopUpOrder } from '../../payments/types.ts'
import { type Answer, idOf, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { dong } from '../view/format.ts'

export const TOP_UP_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/topup',
    authentication: 'session',
    purpose: 'Amount and history',
    handle: request => form(request, null),
  },
  { method: 'POST', path: '/topup', authentication: 'session', purpose: 'Makes an order', handle: submit },
]

const QUICK_AMOUNTS_VND = [50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000] as const

async function form(request: PageRequest, fault: string | null): Promise<Answer> {
  const { options, language, query } = request
  const { accountId } = signedIn(request)
  const limit = options.limits.tableRows
  const beforeCode = query.text('before')
  const beforeSeq = idOf(query.text('credits'))
  const [balance, orders, credits] = await Promise.all([
    readBalance(options.sql, accountId),
    listOrders(options.payments, accountId, {
      limit,
      ...(isOrderCode(beforeCode) && { beforeCode }),
    }),
    readCredits(options.sql, { accountId, limit, ...(beforeSeq !== null && { beforeSeq }) }),
  ])
  const [lastOrder, lastCredit] = [orders.at(-1), credits.at(-1)]
  const { orderVndMin, orderVndMax } = options.payments.limits
  const bounds = { min: dong(orderVndMin), max: dong(orderVndMax) }
  return {
    kind: 'page',
    template: 'topup',
    title: text(language, 'topup.title'),
    section: 'topup',
    status: fault === null ? 200 : 422,
    data: {
      balance: balance?.balanceMicroVnd ?? ZERO_MICRO_VND,
      amount: request.form.text('amount', 30),
      hint: text(language, 'topup.amount.hint', bounds),
      quick: QUICK_AMOUNTS_VND.filter(amount => amount >= orderVndMin && amount <= orderVndMax).map(amount => ({
        amount,
        value: dong(amount).slice(0, -2),
      })),
      isConfigured: options.payments.bank !== null,
      orders: orders.map(orderView),
      more:
        orders.length === limit && lastOrder ? `/topup${query.with({ before: lastOrder.orderCode })}#history` : null,
      // Only operators see an adjustment's reason.
      credits: credits.map(row => ({
        ...row,
        kindKey: `topup.kind.${row.kind}`,
        note: row.kind === 'adjustment' ? null : row.note,
      })),
      moreCredits:
        credits.length === limit && lastCredit
          ? `/topup${query.with({ credits: String(lastCredit.seq) })}#movements`
          : null,
      fault,
    },
  }
}

const TONES = { open: 'warn', paid: 'good', short: 'warn', cancelled: '', expired: '' } as const

/** An order as pages show it. If less than its amount was paid, the order still counts as paid, but is shown as underpaid. */
export function orderView<Order extends TopUpOrder>(order: Order) {
  const isShort = order.state === 'paid' && order.paidVnd < order.amountVnd
  const shown = isShort ? 'short' : order.state
  return { ...order, isShort, stateKey: `topup.state.${shown}`, tone: TONES[shown] }
}

async function submit(request: PageRequest): Promise<Answer> {
  const { options, language } = request
  const amountVnd = readAmountVnd(request.form.text('amount', 40))
  if (amountVnd === null) return form(request, text(language, 'topup.amount.fault'))
  const result = await createOrder(options.payments, { accountId: signedIn(request).accountId, amountVnd })
  switch (result.outcome) {
    case 'created':
      return { kind: 'redirect', to: `/topup/${result.order.orderCode}` }
    case 'out_of_range':
      return form(request, text(language, 'topup.amount.range', { min: dong(result.minVnd), max: dong(result.maxVnd) }))
    case 'too_many_open':
      return form(request, text(language, 'topup.too_many'))
    case 'too_many_unpaid':
      return form(request, text(language, 'topup.too_many_unpaid'))
    case 'not_configured':
      return form(request, text(language, 'topup.not_configured'))
  }
}
