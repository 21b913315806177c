/** A paid top-up as a page to print. It is a receipt, not an invoice, and says so. */

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
      // The details of the latest transfer, because the transfers of an order may have different ones.
      buyer: transfers.at(-1)?.buyer ?? null,
      email,
      company: options.company,
    },
  }
}
