/** The operators' page for bank transfers: unmatched transfers with suggested owners, and a search through all transfers. */

import { findAccount } from '../../accounts/accounts.ts'
import { readPlace } from '../../lib/search.ts'
import { searchTransactions } from '../../payments/search.ts'
import { type Suggestion, suggestOwners } from '../../payments/suggest.ts'
import { readFirstReport } from '../../payments/transactions.ts'
import { findTwins } from '../../payments/twins.ts'
import { type StoredTransaction, TRANSACTION_STATES, type TransactionState } from '../../payments/types.ts'
import { countUnmatched, isReopenable, listUnmatched } from '../../payments/unmatched.ts'
import { type Answer, idOf, type PageRequest } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { dong, time } from '../view/format.ts'
import { operatorPage, REASON_CHARACTERS_MAX, searchLinks } from './frame.ts'
import { actorInWords } from './log-view.ts'

/** Maximum number of unmatched transfers on a page. It is small, because suggestions are looked up for each transfer. */
const WAITING_ROWS = 20
export const OWNER_CHARACTERS_MAX = 254
const STATES = Object.keys(TRANSACTION_STATES) as readonly TransactionState[]

/** A rejected form submission, with the faults of its fields. */
export interface Refusal {
  /** Id of the transfer whose form it is, or `enter` for the form that enters a transfer by hand. */
  readonly form: number | 'enter'
  readonly faults: Readonly<Record<string, string | null>>
  readonly status?: number
}

/** A transfer entered by hand that the operator has yet to confirm. */
interface Question {
  readonly amountVnd: number
}

export async function transfersPage(
  request: PageRequest,
  { refusal = null, question = null }: { refusal?: Refusal | null; question?: Question | null } = {},
): Promise<Answer> {
  const { options, form, query } = request
  const { sql } = options
  const afterId = idOf(query.text('after')) ?? 0
  const state = query.choice('state', STATES) ?? undefined
  const q = query.text('q')
  const [waiting, unmatched, found] = await Promise.all([
    listUnmatched({ sql }, { afterId, limit: WAITING_ROWS }),
    countUnmatched({ sql }),
    searchTransactions(sql, {
      text: q,
      state,
      place: readPlace(query.text('before')),
      limit: options.limits.tableRows,
    }),
  ])
  const [suggestions, twins] = await Promise.all([suggestOwners(sql, waiting), findTwins(sql, waiting)])
  const lastWaiting = waiting.at(-1)
  const entered = (name: string, charactersMax = REASON_CHARACTERS_MAX) =>
    refusal?.form === 'enter' || question !== null ? form.text(name, charactersMax) : ''
  const data = {
    unmatched,
    waiting: waiting.map(row => ({
      ...transferView(request, row),
      ...cardOf(request, row, refusal),
      twins: (twins.get(row.bankTxnId) ?? []).map(twin => ({ ...transferView(request, twin), email: twin.email })),
      suggestions: (suggestions.get(row.bankTxnId) ?? []).map(each => suggestionView(request, row, each)),
    })),
    moreWaiting:
      waiting.length === WAITING_ROWS && lastWaiting
        ? `/operator/transfers${query.with({ after: String(lastWaiting.bankTxnId) })}`
        : null,
    found: found.transactions.map(row => ({
      ...transferView(request, row),
      email: row.email,
      isReopenable: isReopenable(row),
      reopenFault: refusal?.form === row.bankTxnId ? (refusal.faults.reopen ?? null) : null,
    })),
    q,
    states: STATES.map(value => ({ value, key: `operator.transfer.state.${value}`, isChosen: value === state })),
    ...searchLinks(request, found, { path: '/operator/transfers', anchor: '#all', note: 'transfer.compared_to' }),
    taken: await takenText(request),
    question,
    entered: {
      reference: entered('reference', 200),
      amount: entered('amount', 40),
      memo: entered('memo'),
      reason: entered('reason'),
      faults: { ...NO_FAULTS, ...(refusal?.form === 'enter' ? refusal.faults : {}) },
    },
  }
  return operatorPage(
    request,
    'operator-transfers',
    'transfers',
    data,
    refusal === null ? 200 : (refusal.status ?? 422),
  )
}

const NO_FAULTS = { to: null, reason: null, settle: null, reference: null, amount: null }

/** Names of providers that are no services. */
const PROVIDER_KEYS: Readonly<Record<string, TextKey>> = {
  manual: 'transfer.by_hand',
  simulated: 'operator.upstream.simulated',
}

function transferView({ language }: PageRequest, row: StoredTransaction) {
  const providerKey = PROVIDER_KEYS[row.provider]
  return {
    ...row,
    provider: providerKey === undefined ? row.provider : text(language, providerKey),
    stateKey: `operator.transfer.state.${row.state}`,
    isClosed: row.reason === 'account_closed',
    signedVnd: row.direction === 'out' ? -row.amountVnd : row.amountVnd,
    reasonKey: row.reason === null ? null : `operator.transfer.reason.${row.reason}`,
    tone: row.state === 'credited' ? 'good' : row.state === 'unmatched' ? 'warn' : '',
  }
}

/** Contents of the form on a transfer's card: the rejected input, or the values of the suggestion that the operator picked. */
function cardOf({ form, query }: PageRequest, { bankTxnId }: StoredTransaction, refusal: Refusal | null) {
  const isRefused = refusal?.form === bankTxnId
  const source = isRefused ? form : query.text('fill') === String(bankTxnId) ? query : null
  return {
    isFilled: source === query,
    to: source?.text('to', OWNER_CHARACTERS_MAX) ?? '',
    why: source?.text('reason', REASON_CHARACTERS_MAX) ?? '',
    faults: { ...NO_FAULTS, ...(isRefused ? refusal.faults : {}) },
  }
}

function suggestionView(request: PageRequest, { bankTxnId }: StoredTransaction, given: Suggestion) {
  const { language, query } = request
  // The operators' log keeps it as the reason, so it must not contain the address: the customer may delete the account.
  const why = text(language, `transfer.suggest.${given.why}`, { code: given.orderCode ?? '' })
  const to = given.orderCode ?? given.email
  return {
    email: given.email,
    orderCode: given.orderCode,
    why,
    link: `/operator/transfers${query.with({ fill: String(bankTxnId), to, reason: why })}#transfer-${bankTxnId}`,
  }
}

/**
 * Message about a transfer that another operator has dealt with in the meantime: who, when, and with what result; or about one that
 * was entered by hand and waits, and why.
 */
async function takenText({ options, query, language }: PageRequest): Promise<string | null> {
  const bankTxnId = idOf(query.text('taken'))
  const found = bankTxnId === null ? null : await readFirstReport(options.sql, bankTxnId)
  if (found === null || found.stateAt === null) return null
  if (found.state === 'unmatched') {
    const reason = text(language, `operator.transfer.reason.${found.reason ?? 'no_code'}`)
    return text(language, 'transfer.waits', { number: found.bankTxnId, amount: dong(found.amountVnd), reason })
  }
  const owner = found.accountId === null ? null : await findAccount(options.sql, found.accountId)
  const state = text(language, `operator.transfer.state.${found.state}`)
  return text(language, 'transfer.taken', {
    number: found.bankTxnId,
    amount: dong(found.amountVnd),
    state: owner === null ? state : `${state}: ${owner.email}`,
    by: actorInWords(language, found.stateBy ?? ''),
    time: time(found.stateAt),
  })
}
