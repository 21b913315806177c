/** An operator's view of one customer: money, keys, calls, orders, emails, sessions, notes and operators' actions. */

import { listMails } from '../../accounts/mail-log.ts'
import { listNotes } from '../../accounts/notes.ts'
import { type AccountSummary, readAccountSummary } from '../../accounts/operator.ts'
import { listActions } from '../../accounts/operator-log.ts'
import { listChargedKeys, type OwnKey } from '../../accounts/own-keys.ts'
import { listSessions } from '../../accounts/sessions.ts'
import { readCredits } from '../../ledger/reports/journal.ts'
import { readUsageRows } from '../../ledger/reports/rows.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { MICRO_PER_VND } from '../../lib/money.ts'
import { listOrders } from '../../payments/orders.ts'
import { keyView } from '../money/key-list.ts'
import { orderView } from '../money/top-up.ts'
import { rowView } from '../money/usage.ts'
import { type Answer, idOf, NOT_FOUND, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { count, dong } from '../view/format.ts'
import { operatorPage, REASON_CHARACTERS_MAX } from './frame.ts'
import { guardOperators } from './gate.ts'
import { actionView } from './log-view.ts'

const ROWS = 10
const JOURNAL_ROWS = 20
export const NOTE_CHARACTERS_MAX = 1_000

/** A rejected form submission, with the faults of its fields. */
export interface Refusal {
  readonly form: 'adjust' | 'block' | 'note' | 'limits' | 'revoke' | 'sessions'
  readonly faults: Readonly<Record<string, string | null>>
}

/** A manual balance adjustment that the operator has yet to confirm. */
export interface Question {
  readonly amountVnd: number
}

/** Null if there is no account with the id in the URL. */
export async function findAccount({ options, params }: PageRequest): Promise<AccountSummary | null> {
  const accountId = idOf(params.id)
  return accountId === null ? null : readAccountSummary(options.sql, accountId)
}

/** Returns the account that a form is about, or the error page to send instead. */
export async function findCustomer(
  request: PageRequest,
): Promise<AccountSummary | Extract<Answer, { kind: 'problem' }>> {
  const account = await findAccount(request)
  if (account === null) return NOT_FOUND
  return (await guardOperators(request, [account.accountId])) ?? account
}

export async function showCustomer(request: PageRequest): Promise<Answer> {
  const account = await findAccount(request)
  return account === null ? NOT_FOUND : customerPage(request, account)
}

export async function customerPage(
  request: PageRequest,
  account: AccountSummary,
  { refusal = null, question = null }: { refusal?: Refusal | null; question?: Question | null } = {},
): Promise<Answer> {
  const { options, query, form } = request
  const { sql, payments, people } = options
  const { accountId, email } = account
  const beforeSeq = idOf(query.text('credits'))
  const [keys, calls, orders, credits, sessions, mails, notes, actions] = await Promise.all([
    listChargedKeys(sql, accountId),
    readUsageRows(sql, { accountId, filter: {}, limit: ROWS }),
    listOrders(payments, accountId, { limit: ROWS }),
    readCredits(sql, { accountId, limit: JOURNAL_ROWS, ...(beforeSeq !== null && { beforeSeq }) }),
    listSessions(people, accountId),
    listMails(sql, email, ROWS),
    listNotes(sql, accountId, JOURNAL_ROWS),
    listActions(sql, { accountId, limit: JOURNAL_ROWS }),
  ])
  const oldest = credits.at(-1)
  /** The text typed into a field if the form was rejected or awaits confirmation; otherwise ''. */
  const typed = (of: Refusal['form'], name: string, charactersMax = REASON_CHARACTERS_MAX) =>
    refusal?.form === of || (of === 'adjust' && question !== null) ? form.text(name, charactersMax) : ''
  const faultsOf = (of: Refusal['form']) => ({ ...NO_FAULTS, ...(refusal?.form === of ? refusal.faults : {}) })
  const data = {
    account,
    roleKey: account.role === null ? null : `operator.role.${account.role}`,
    keys: keys.filter(key => !key.isPlayground).map(key => keyRow(request, key, refusal)),
    calls: calls.rows.map(row => rowView(request, row, keys, '/operator/calls')),
    orders: orders.map(orderView),
    credits: credits.map(row => ({ ...row, kindKey: `topup.kind.${row.kind}` })),
    moreCredits:
      credits.length === JOURNAL_ROWS && oldest
        ? `/operator/accounts/${accountId}?credits=${oldest.seq}#journal`
        : null,
    sessions: sessions.map(session => ({
      sessionId: session.sessionId,
      device: session.device || text(request.language, 'account.device.unknown'),
      seenAt: session.seenAt,
      createdAt: session.createdAt,
    })),
    mails,
    notes,
    actions: actions.filter(({ action }) => action !== 'note.add').map(action => actionView(request, action)),
    adjust: { amount: typed('adjust', 'amount', 40), reason: typed('adjust', 'reason'), faults: faultsOf('adjust') },
    block: { reason: typed('block', 'reason'), faults: faultsOf('block') },
    note: { note: refusal?.form === 'note' ? form.lines('note', NOTE_CHARACTERS_MAX) : '', faults: faultsOf('note') },
    question:
      question === null
        ? null
        : {
            ...question,
            isCredit: question.amountVnd > 0,
            size: Math.abs(question.amountVnd),
            after: account.balanceMicroVnd + BigInt(question.amountVnd) * MICRO_PER_VND,
          },
    submission: question === null ? uuidv7() : form.text('submission'),
  }
  return operatorPage(request, 'operator-account', 'accounts', data, refusal === null ? 200 : 422)
}

const NO_FAULTS = { amount: null, reason: null, note: null, rate: null, concurrency: null, cap: null }

function keyRow(request: PageRequest, key: OwnKey, refusal: Refusal | null) {
  const { form } = request
  const isTyped = (of: Refusal['form']) => refusal?.form === of && form.text('key') === String(key.keyId)
  const limits = isTyped('limits')
  const number = (value: number | null) => (value === null ? '' : count(value))
  const standing = {
    rate: key.rateHeld ? number(key.rateLimitPerMinute) : '',
    concurrency: key.concurrencyHeld ? number(key.concurrencyMax) : '',
    cap: key.limitMicroVnd === null ? '' : dong(key.limitMicroVnd / MICRO_PER_VND).slice(0, -2),
  }
  const typed = (suffix: string) => ({
    rate: form.text(`rate${suffix}`, 20),
    concurrency: form.text(`concurrency${suffix}`, 20),
    cap: form.text(`cap${suffix}`, 20),
  })
  return {
    ...keyView(request, key),
    isOpen: limits || isTyped('revoke'),
    limits: limits ? typed('') : standing,
    shown: limits ? typed('_shown') : standing,
    limitsReason: limits ? form.text('reason', REASON_CHARACTERS_MAX) : '',
    limitsFaults: { ...NO_FAULTS, ...(limits ? refusal?.faults : {}) },
    revokeFaults: { ...NO_FAULTS, ...(isTyped('revoke') ? refusal?.faults : {}) },
  }
}
