/**
 * Forms with which operators assign a transfer to a customer, mark it as returned or ignored, or enter one by hand. If two
 * operators act on the same transfer, the first one wins.
 */

import { findAccountByEmail } from '../../accounts/accounts.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import { enterTransfer } from '../../payments/enter.ts'
import { findOrderCodes } from '../../payments/memo.ts'
import { readFirstReport } from '../../payments/transactions.ts'
import {
  type Assignment,
  assignTransaction,
  findOwner,
  reopenTransaction,
  settleUnmatched,
} from '../../payments/unmatched.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { dong } from '../view/format.ts'
import { actorOf, REASON_CHARACTERS_MAX } from './frame.ts'
import { guardOperators } from './gate.ts'
import { OWNER_CHARACTERS_MAX, type Refusal, transfersPage } from './transfers.ts'

const PATH = '/operator/transfers'
const MONEY = { method: 'POST', authentication: 'operator', needs: 'money' } as const

export const TRANSFER_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: PATH,
    authentication: 'operator',
    needs: 'read',
    purpose: 'The money desk',
    handle: request => transfersPage(request),
  },
  { ...MONEY, path: PATH, purpose: 'Enters one by hand', handle: enter },
  { ...MONEY, path: `${PATH}/:id/assign`, purpose: 'Credits one', handle: assign },
  { ...MONEY, path: `${PATH}/:id/settle`, purpose: 'Credits nobody', handle: settle },
  { ...MONEY, path: `${PATH}/:id/reopen`, purpose: 'Puts one back in the queue', handle: reopen },
]

async function enter(request: PageRequest): Promise<Answer> {
  const { options, form, language } = request
  const { adjustAskVnd, adjustVndMax } = options.limits
  const bankReference = form.text('reference')
  const amountVnd = readAmountVnd(form.text('amount', 40))
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  const faults = {
    reference: /[A-Za-z0-9]/.test(bankReference) ? null : text(language, 'transfer.reference.fault'),
    amount:
      amountVnd === null
        ? text(language, 'topup.amount.fault')
        : amountVnd > adjustVndMax
          ? text(language, 'transfer.enter.max', { max: dong(adjustVndMax) })
          : null,
    reason: reason === '' ? text(language, 'operator.reason.fault') : null,
  }
  const refuse = (named: Refusal['faults'], status = 422) =>
    transfersPage(request, { refusal: { form: 'enter', faults: named, status } })
  if (amountVnd === null || Object.values(faults).some(fault => fault !== null)) return refuse(faults)
  if (options.payments.bank === null) return refuse({ reference: text(language, 'transfer.no_account') })
  // The confirmation repeats the amount, so a changed amount has to be confirmed again.
  if (amountVnd > adjustAskVnd && form.text('confirmed') !== String(amountVnd)) {
    return transfersPage(request, { question: { amountVnd } })
  }
  const memo = form.text('memo', REASON_CHARACTERS_MAX)
  const refused = await guardOwners(
    request,
    findOrderCodes(memo).map(orderCode => ({ orderCode })),
  )
  if (refused !== null) return refused
  const given = { bankReference, amountVnd, memo, by: actorOf(request), reason }
  const received = await enterTransfer(options.payments, given)
  switch (received.outcome) {
    case 'conflict':
      return refuse({ reference: text(language, 'operator.done.conflict') }, 409)
    case 'duplicate':
    case 'alias': {
      const first = (await readFirstReport(options.sql, received.bankTxnId))?.bankTxnId ?? received.bankTxnId
      return { kind: 'redirect', to: `${PATH}?${atTransfer(first)}` }
    }
    case 'unmatched':
      return { kind: 'redirect', to: `${PATH}?done=entered&${atTransfer(received.bankTxnId)}` }
    default:
      return { kind: 'redirect', to: `${PATH}?done=entered` }
  }
}

/** The query of the page on which a transfer is the first that waits, with a message about its state. */
function atTransfer(bankTxnId: number): string {
  return `taken=${bankTxnId}&after=${bankTxnId - 1}`
}

/** Reads an email address, an order code or an account number; null for an address that has no account. */
async function readOwner({ options }: PageRequest, typed: string) {
  if (typed.includes('@')) {
    const account = await findAccountByEmail(options.sql, typed)
    return account === null ? null : { accountId: account.accountId }
  }
  const accountId = idOf(typed)
  return accountId === null ? { orderCode: findOrderCodes(typed)[0] ?? typed } : { accountId }
}

/** Like guardOperators, for the accounts that a transfer would be credited to. */
async function guardOwners(request: PageRequest, targets: readonly Assignment['to'][]): Promise<Answer | null> {
  const owners = await Promise.all(targets.map(to => findOwner(request.options.sql, to)))
  return guardOperators(
    request,
    owners.filter(owner => owner !== null),
  )
}

async function assign(request: PageRequest): Promise<Answer> {
  const { options, form, language, params } = request
  const bankTxnId = idOf(params.id)
  if (bankTxnId === null) return NOT_FOUND
  const typed = form.text('to', OWNER_CHARACTERS_MAX)
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  const to = await readOwner(request, typed)
  const unknown = typed.includes('@') ? 'transfer.unknown_email' : 'operator.transfer.unknown_target'
  const refuse = (fault: TextKey | null) =>
    transfersPage(request, {
      refusal: {
        form: bankTxnId,
        faults: {
          to: fault === null ? null : text(language, fault),
          reason: reason === '' ? text(language, 'operator.reason.fault') : null,
        },
      },
    })
  if (to === null || reason === '') return refuse(to === null ? unknown : null)
  const refused = await guardOwners(request, [to])
  if (refused !== null) return refused
  const { outcome } = await assignTransaction(options.payments, { bankTxnId, to, by: actorOf(request), reason })
  switch (outcome) {
    case 'credited':
      return { kind: 'redirect', to: `${PATH}?done=assigned` }
    case 'already':
      return { kind: 'redirect', to: `${PATH}?taken=${bankTxnId}` }
    case 'unknown_target':
      return refuse(unknown)
    case 'closed_target':
      return refuse('operator.transfer.closed_target')
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
  if (reason === '') {
    const faults = { settle: text(language, 'operator.reason.fault') }
    return transfersPage(request, { refusal: { form: bankTxnId, faults } })
  }
  const settled = await settleUnmatched(options.payments, { bankTxnId, as, by: actorOf(request), reason })
  return { kind: 'redirect', to: `${PATH}?${settled ? 'done=settled' : `taken=${bankTxnId}`}` }
}

async function reopen(request: PageRequest): Promise<Answer> {
  const { options, form, language, params } = request
  const bankTxnId = idOf(params.id)
  const found = bankTxnId === null ? null : await readFirstReport(options.sql, bankTxnId)
  if (bankTxnId === null || found === null) return NOT_FOUND
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (reason === '') {
    const faults = { reopen: text(language, 'operator.reason.fault') }
    return transfersPage(request, { refusal: { form: bankTxnId, faults } })
  }
  // If somebody else has already put it back or credited it, the page says so.
  await reopenTransaction(options.payments, { bankTxnId, by: actorOf(request), reason })
  return { kind: 'redirect', to: `${PATH}?${atTransfer(bankTxnId)}` }
}
