/** Bank transfers: those that found no owner, entering one by hand, and the latest of all. */

import { readAmountVnd } from '../../payments/amount.ts'
import { enterTransfer } from '../../payments/enter.ts'
import { listTransactions } from '../../payments/transactions.ts'
import type { StoredTransaction } from '../../payments/types.ts'
import { assignTransaction, listUnmatched, settleUnmatched } from '../../payments/unmatched.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { actorOf, operatorPage } from './frame.ts'

export const TRANSFER_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/transfers',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Unmatched and latest',
    handle: request => list(request, null),
  },
  {
    method: 'POST',
    path: '/operator/transfers',
    authentication: 'operator',
    needs: 'money',
    purpose: 'Enters one by hand',
    handle: enter,
  },
  {
    method: 'POST',
    path: '/operator/transfers/:id/assign',
    authentication: 'operator',
    needs: 'money',
    purpose: 'Credits one',
    handle: assign,
  },
  {
    method: 'POST',
    path: '/operator/transfers/:id/settle',
    authentication: 'operator',
    needs: 'money',
    purpose: 'Credits nobody',
    handle: settle,
  },
]

const LATEST_ROWS = 30
const REASON_CHARACTERS_MAX = 300

async function list(request: PageRequest, fault: string | null): Promise<Answer> {
  const { options, form } = request
  const [waiting, latest] = await Promise.all([
    listUnmatched(options.payments, { limit: options.limits.tableRows }),
    listTransactions(options.payments, { limit: LATEST_ROWS }),
  ])
  const data = {
    waiting: waiting.map(transferView),
    latest: latest.map(transferView),
    entered: {
      reference: form.text('reference'),
      amount: form.text('amount', 40),
      memo: form.text('memo', 300),
      reason: form.text('reason', REASON_CHARACTERS_MAX),
    },
    fault,
  }
  return operatorPage(request, 'operator-transfers', 'transfers', data, fault === null ? 200 : 422)
}

function transferView(row: StoredTransaction) {
  return {
    ...row,
    stateKey: `operator.transfer.state.${row.state}`,
    reasonKey: row.reason === null ? null : `operator.transfer.reason.${row.reason}`,
    tone: row.state === 'credited' ? 'good' : row.state === 'unmatched' ? 'warn' : '',
  }
}

async function enter(request: PageRequest): Promise<Answer> {
  const { options, form, language } = request
  const bankReference = form.text('reference')
  const amountVnd = readAmountVnd(form.text('amount', 40))
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (bankReference === '' || amountVnd === null || amountVnd === 0 || reason === '') {
    return list(request, text(language, 'operator.enter.fault'))
  }
  const memo = form.text('memo', 300)
  const received = await enterTransfer(options.payments, {
    bankReference,
    amountVnd,
    memo,
    by: actorOf(request),
    reason,
  })
  const done = { duplicate: 'already', conflict: 'conflict', alias: 'already' } as const
  const notice = received.outcome in done ? done[received.outcome as keyof typeof done] : 'entered'
  return { kind: 'redirect', to: `/operator/transfers?done=${notice}` }
}

async function assign(request: PageRequest): Promise<Answer> {
  const { options, form, language, params } = request
  const bankTxnId = idOf(params.id)
  if (bankTxnId === null) return NOT_FOUND
  const target = form.text('to').toUpperCase()
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (reason === '') return list(request, text(language, 'operator.reason.fault'))
  const accountId = idOf(target)
  const to = accountId === null ? { orderCode: target } : { accountId }
  const { outcome } = await assignTransaction(options.payments, { bankTxnId, to, by: actorOf(request), reason })
  switch (outcome) {
    case 'credited':
      return { kind: 'redirect', to: '/operator/transfers?done=assigned' }
    case 'already':
      return { kind: 'redirect', to: '/operator/transfers?done=already' }
    case 'unknown_target':
      return list(request, text(language, 'operator.transfer.unknown_target'))
    case 'unknown_transaction':
      return NOT_FOUND
  }
}

async function settle(request: PageRequest): Promise<Answer> {
  const { options, form, language, params } = request
  const bankTxnId = idOf(params.id)
  const as = form.choice('as', ['returned', 'ignored'])
  if (bankTxnId === null || as === null) return NOT_FOUND
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (reason === '') return list(request, text(language, 'operator.reason.fault'))
  const settled = await settleUnmatched(options.payments, { bankTxnId, as, by: actorOf(request), reason })
  return { kind: 'redirect', to: `/operator/transfers?done=${settled ? 'settled' : 'already'}` }
}
