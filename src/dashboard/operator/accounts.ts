/** Accounts: find one, see it, adjust its balance, block it. */

import {
  type AccountSummary,
  blockAccount,
  readAccountSummary,
  searchAccounts,
  unblockAccount,
} from '../../accounts/operator.ts'
import { listActions, recordAction } from '../../accounts/operator-log.ts'
import { credit } from '../../ledger/credit.ts'
import { readCredits } from '../../ledger/reports/journal.ts'
import { isUuid, uuidv7 } from '../../lib/ids.ts'
import { vndToMicro } from '../../lib/money.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { actorOf, operatorPage, REASON_CHARACTERS_MAX } from './frame.ts'

export const OPERATOR_ACCOUNT_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/accounts',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Search',
    handle: search,
  },
  {
    method: 'GET',
    path: '/operator/accounts/:id',
    authentication: 'operator',
    needs: 'read',
    purpose: 'One account',
    handle: show,
  },
  {
    method: 'POST',
    path: '/operator/accounts/:id/adjust',
    authentication: 'operator',
    needs: 'money',
    purpose: 'Balance',
    handle: adjust,
  },
  {
    method: 'POST',
    path: '/operator/accounts/:id/block',
    authentication: 'operator',
    needs: 'customers',
    purpose: 'Blocks',
    handle: block,
  },
  {
    method: 'POST',
    path: '/operator/accounts/:id/unblock',
    authentication: 'operator',
    needs: 'customers',
    purpose: 'Unblocks',
    handle: unblock,
  },
]

const JOURNAL_ROWS = 20
const NO_FAULTS = { amount: null, reason: null } as const
type Faults = { readonly amount: string | null; readonly reason: string | null }

async function search(request: PageRequest): Promise<Answer> {
  const { options, query } = request
  const q = query.text('q', 254)
  const afterId = idOf(query.text('after')) ?? 0
  const limit = options.limits.tableRows
  const accounts = await searchAccounts(options.sql, { text: q, afterId, limit })
  const last = accounts.at(-1)
  return operatorPage(request, 'operator-accounts', 'accounts', {
    q,
    accounts,
    more:
      accounts.length === limit && last ? `/operator/accounts${query.with({ after: String(last.accountId) })}` : null,
  })
}

async function findAccount({ options, params }: PageRequest): Promise<AccountSummary | null> {
  const accountId = idOf(params.id)
  return accountId === null ? null : readAccountSummary(options.sql, accountId)
}

async function show(request: PageRequest): Promise<Answer> {
  const account = await findAccount(request)
  return account === null ? NOT_FOUND : accountPage(request, account, NO_FAULTS)
}

async function accountPage(request: PageRequest, account: AccountSummary, faults: Faults): Promise<Answer> {
  const { options, form } = request
  const { accountId } = account
  const [credits, actions] = await Promise.all([
    readCredits(options.sql, { accountId, limit: JOURNAL_ROWS }),
    listActions(options.sql, { accountId, limit: JOURNAL_ROWS }),
  ])
  const data = {
    account,
    credits: credits.map(row => ({ ...row, kindKey: `topup.kind.${row.kind}` })),
    actions,
    amount: form.text('amount', 40),
    reason: form.text('reason', REASON_CHARACTERS_MAX),
    submission: uuidv7(),
    faults,
  }
  const status = faults.amount === null && faults.reason === null ? 200 : 422
  return operatorPage(request, 'operator-account', 'accounts', data, status)
}

/** `-50.000` as well as `50.000`; null for 0 and for what is no amount. */
function readSigned(given: string): number | null {
  const isNegative = /^[-−]/.test(given)
  const amount = readAmountVnd(isNegative ? given.slice(1) : given)
  if (amount === null || amount === 0) return null
  return isNegative ? -amount : amount
}

async function adjust(request: PageRequest): Promise<Answer> {
  const { options, form, language } = request
  const account = await findAccount(request)
  if (account === null) return NOT_FOUND
  const amountVnd = readSigned(form.text('amount', 40))
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (amountVnd === null || reason === '') {
    return accountPage(request, account, {
      amount: amountVnd === null ? text(language, 'operator.adjust.fault') : null,
      reason: reason === '' ? text(language, 'operator.reason.fault') : null,
    })
  }
  const { accountId } = account
  const submission = form.text('submission')
  const reference = `operator:${isUuid(submission) ? submission : uuidv7()}`
  try {
    await options.sql.begin(async transaction => {
      const amountMicroVnd = vndToMicro(amountVnd)
      const note = reason
      const booked = await credit(transaction, { accountId, amountMicroVnd, kind: 'adjustment', reference, note })
      // The form came twice: the first has done it all.
      if (booked.outcome === 'already') return
      const subject = `${amountVnd} VND`
      await recordAction(transaction, { by: actorOf(request), action: 'balance.adjust', accountId, subject, reason })
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return accountPage(request, account, { amount: text(language, 'operator.adjust.too_much'), reason: null })
  }
  options.payments.onCredited(accountId)
  return { kind: 'redirect', to: `/operator/accounts/${accountId}?done=adjusted` }
}

async function block(request: PageRequest): Promise<Answer> {
  return setBlocked(request, true)
}

async function unblock(request: PageRequest): Promise<Answer> {
  return setBlocked(request, false)
}

async function setBlocked(request: PageRequest, blocked: boolean): Promise<Answer> {
  const { options, form, language } = request
  const account = await findAccount(request)
  if (account === null) return NOT_FOUND
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (reason === '')
    return accountPage(request, account, { amount: null, reason: text(language, 'operator.reason.fault') })
  const { accountId } = account
  const change = { accountId, by: actorOf(request), reason }
  if (blocked) await blockAccount(options.sql, change)
  else await unblockAccount(options.sql, change)
  return { kind: 'redirect', to: `/operator/accounts/${accountId}?done=${blocked ? 'blocked' : 'unblocked'}` }
}
