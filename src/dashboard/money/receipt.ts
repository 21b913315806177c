/** Printable receipt for a paid top-up. The page says that it is not an invoice. */

import { listOrderTransfers } from '../../payments/order-receipt.ts'
import { readOrder } from '../../payments/orders.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'

export const ORDER_RECEIPT: Page = {
  method: 'GET',
  path: '/topup/:code/receipt',
  authentication: 'session',
  purpose: 'A receipt to print',
  handle: show,
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, language, params } = request
  const { accountId, email } = signedIn(request)
  const order = await readOrder(options.payments, { accountId, orderCode: params.code ?? '' })
  if (order === null || order.state !== 'paid') return NOT_FOUND
  const transfers = await listOrderTransfers(options.sql, { accountId, orderCode: order.orderCode })
  return {
    kind: 'page',
    template: 'receipt',
    title: text(language, 'receipt.title', { code: order.orderCode }),
    section: 'topup',
    data: {
      order,
      transfers,
      // An order may be paid by several transfers with different buyer details; show the latest.
      buyer: transfers.at(-1)?.buyer ?? null,
      email,
      company: options.company,
    },
  }
}
