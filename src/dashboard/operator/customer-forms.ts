/** Forms for operators on a customer's page. Each submission takes effect once, requires a reason and is logged. */

import { CALLS_PER_MINUTE_MAX, CONCURRENCY_MAX } from '../../accounts/key-rate.ts'
import { KEY_CAP_VND_MAX } from '../../accounts/key-settings.ts'
import { addNote } from '../../accounts/notes.ts'
import { type AccountSummary, blockAccount, unblockAccount } from '../../accounts/operator.ts'
import { changeKeyLimits, revokeCustomerKey } from '../../accounts/operator-keys.ts'
import { recordAction } from '../../accounts/operator-log.ts'
import { endAllSessions, endSession } from '../../accounts/sessions.ts'
import { ClosedAccountError, type CreditAnswer, credit, ReusedReferenceError } from '../../ledger/credit.ts'
import { isUuid, uuidv7 } from '../../lib/ids.ts'
import { vndToMicro } from '../../lib/money.ts'
import { announce } from '../../operations/channel.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { count, dong } from '../view/format.ts'
import { customerPage, findCustomer, NOTE_CHARACTERS_MAX, type Refusal } from './customer.ts'
import { actorOf, REASON_CHARACTERS_MAX } from './frame.ts'

const CUSTOMERS = { method: 'POST', authentication: 'operator', needs: 'customers' } as const
const BASE = '/operator/accounts/:id'

export const CUSTOMER_FORMS: readonly Page[] = [
  {
    method: 'POST',
    path: `${BASE}/adjust`,
    authentication: 'operator',
    needs: 'money',
    purpose: 'Money by hand',
    handle: withCustomer(adjust),
  },
  { ...CUSTOMERS, path: `${BASE}/block`, purpose: 'Blocks', handle: withCustomer(block) },
  { ...CUSTOMERS, path: `${BASE}/unblock`, purpose: 'Unblocks', handle: withCustomer(unblock) },
  { ...CUSTOMERS, path: `${BASE}/notes`, purpose: 'Writes a note', handle: withCustomer(note) },
  { ...CUSTOMERS, path: `${BASE}/keys/limits`, purpose: 'Limits of a key', handle: withCustomer(limits) },
  { ...CUSTOMERS, path: `${BASE}/keys/revoke`, purpose: 'Ends a key', handle: withCustomer(revoke) },
  { ...CUSTOMERS, path: `${BASE}/sessions/end`, purpose: 'Signs out', handle: withCustomer(endSessions) },
]

type Handle = (request: PageRequest, account: AccountSummary) => Answer | Promise<Answer>

function withCustomer(handle: Handle): (request: PageRequest) => Promise<Answer> {
  return async request => {
    const found = await findCustomer(request)
    return 'kind' in found ? found : handle(request, found)
  }
}

function done({ accountId }: AccountSummary, notice: string, anchor = ''): Answer {
  return { kind: 'redirect', to: `/operator/accounts/${accountId}?done=${notice}${anchor}` }
}

const reasonOf = ({ form }: PageRequest): string => form.text('reason', REASON_CHARACTERS_MAX)

/** Returns the page with the errors shown, or null if there are none. */
function refused(
  request: PageRequest,
  account: AccountSummary,
  form: Refusal['form'],
  faults: Refusal['faults'],
): Promise<Answer> | null {
  if (Object.values(faults).every(fault => fault === null)) return null
  return customerPage(request, account, { refusal: { form, faults } })
}

/** Returns the error for a missing reason, which every action requires; null if a reason was given. */
function reasonFault({ language }: PageRequest, reason: string): string | null {
  return reason === '' ? text(language, 'operator.reason.fault') : null
}

/** Reads `-50.000` as well as `50.000`; null for 0 and for anything that is not an amount. */
function readSigned(given: string): number | null {
  const isNegative = /^[-−]/.test(given)
  const amount = readAmountVnd(isNegative ? given.slice(1) : given)
  if (amount === null || amount === 0) return null
  return isNegative ? -amount : amount
}

async function adjust(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const { options, form, language } = request
  const { adjustAskVnd, adjustVndMax } = options.limits
  const amountVnd = readSigned(form.text('amount', 40))
  const reason = reasonOf(request)
  const amountFault =
    amountVnd === null
      ? text(language, 'operator.adjust.fault')
      : Math.abs(amountVnd) > adjustVndMax
        ? text(language, 'customer.adjust.max', { max: dong(adjustVndMax) })
        : null
  const refusal = refused(request, account, 'adjust', { amount: amountFault, reason: reasonFault(request, reason) })
  if (refusal !== null || amountVnd === null) return refusal ?? NOT_FOUND
  // The confirmation repeats the amount, so a changed amount has to be confirmed again.
  if (Math.abs(amountVnd) > adjustAskVnd && form.text('confirmed') !== String(amountVnd)) {
    return customerPage(request, account, { question: { amountVnd } })
  }
  const { accountId } = account
  const submission = form.text('submission')
  const reference = `operator:${isUuid(submission) ? submission : uuidv7()}`
  let booked: CreditAnswer
  try {
    booked = await options.sql.begin(async transaction => {
      const amountMicroVnd = vndToMicro(amountVnd)
      const answer = await credit(transaction, {
        accountId,
        amountMicroVnd,
        kind: 'adjustment',
        reference,
        note: reason,
      })
      // The form was submitted twice. Its first submission has already booked and logged everything.
      if (answer.outcome === 'already') return answer
      const subject = `${amountVnd} VND`
      await recordAction(transaction, { by: actorOf(request), action: 'balance.adjust', accountId, subject, reason })
      return answer
    })
  } catch (error) {
    if (error instanceof ReusedReferenceError) return done(account, 'adjusted_before')
    if (!(error instanceof RangeError)) throw error
    const isClosed = error instanceof ClosedAccountError
    const faults = { amount: text(language, isClosed ? 'operator.adjust.closed' : 'operator.adjust.too_much') }
    return customerPage(request, account, { refusal: { form: 'adjust', faults } })
  }
  // A form that was changed after it had been booked was meant to book something else.
  if (booked.note !== reason) return done(account, 'adjusted_before')
  options.payments.onCredited(accountId)
  return done(account, 'adjusted')
}

async function block(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const reason = reasonOf(request)
  const isOwn = account.accountId === signedIn(request).accountId
  const fault = isOwn ? text(request.language, 'customer.block.self') : reasonFault(request, reason)
  const change = { accountId: account.accountId, by: actorOf(request), reason }
  const refusal = refused(request, account, 'block', { reason: fault })
  if (refusal !== null) return refusal
  await blockAccount(request.options.sql, change)
  return done(account, 'blocked')
}

async function unblock(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const reason = reasonOf(request)
  const refusal = refused(request, account, 'block', { reason: reasonFault(request, reason) })
  if (refusal !== null) return refusal
  await unblockAccount(request.options.sql, { accountId: account.accountId, by: actorOf(request), reason })
  return done(account, 'unblocked')
}

async function note(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const { form, language, options } = request
  const given = form.lines('note', NOTE_CHARACTERS_MAX)
  const fault = given === '' ? text(language, 'customer.note.fault') : null
  const refusal = refused(request, account, 'note', { note: fault })
  if (refusal !== null) return refusal
  const sent = form.text('submission')
  const submission = isUuid(sent) ? sent : uuidv7()
  await addNote(options.sql, { accountId: account.accountId, by: actorOf(request), note: given, submission })
  return done(account, 'noted', '#notes')
}

/** Null for empty input; undefined for invalid input. */
function readLimit(typed: string, { min, max }: { min: number; max: number }): number | null | undefined {
  if (typed === '') return null
  const value = typed === '0' ? 0 : readAmountVnd(typed)
  return value !== null && value >= min && value <= max ? value : undefined
}

async function limits(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const { form, language, options } = request
  const keyId = idOf(form.text('key'))
  const callsPerMinute = readLimit(form.text('rate', 20), { min: 0, max: CALLS_PER_MINUTE_MAX })
  const callsInFlight = readLimit(form.text('concurrency', 20), { min: 0, max: CONCURRENCY_MAX })
  const capVnd = readLimit(form.text('cap', 20), { min: 1, max: KEY_CAP_VND_MAX })
  const reason = reasonOf(request)
  const callsFault = (max: number) => text(language, 'customer.limit.fault', { max: count(max) })
  const refusal = refused(request, account, 'limits', {
    rate: callsPerMinute === undefined ? callsFault(CALLS_PER_MINUTE_MAX) : null,
    concurrency: callsInFlight === undefined ? callsFault(CONCURRENCY_MAX) : null,
    cap: capVnd === undefined ? text(language, 'keys.cap.fault', { max: dong(KEY_CAP_VND_MAX) }) : null,
    reason: reasonFault(request, reason),
  })
  if (refusal !== null) return refusal
  if (keyId === null || callsPerMinute === undefined || callsInFlight === undefined || capVnd === undefined) {
    return NOT_FOUND
  }
  const key = { accountId: account.accountId, keyId, by: actorOf(request), reason }
  // The owner or another operator may have changed a limit since the page was shown, which must not undo that.
  const isKept = (name: string) => form.has(`${name}_shown`) && form.text(name, 20) === form.text(`${name}_shown`, 20)
  const wanted = {
    callsPerMinute: isKept('rate') ? undefined : callsPerMinute,
    callsInFlight: isKept('concurrency') ? undefined : callsInFlight,
    capVnd: isKept('cap') ? undefined : capVnd,
  }
  const outcome = await changeKeyLimits(options.sql, key, wanted)
  if (outcome === 'gone') return NOT_FOUND
  if (outcome === 'changed') await announce(options.sql, 'keys')
  return done(account, 'limited', '#keys')
}

async function revoke(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const { form, options } = request
  const keyId = idOf(form.text('key'))
  const reason = reasonOf(request)
  const refusal = refused(request, account, 'revoke', { reason: reasonFault(request, reason) })
  if (refusal !== null) return refusal
  if (keyId === null) return NOT_FOUND
  const { accountId } = account
  const isRevoked = await revokeCustomerKey(options.sql, { accountId, keyId, by: actorOf(request), reason })
  return done(account, isRevoked ? 'revoked' : 'gone', '#keys')
}

/** Ends one session, or all if the form names none. */
async function endSessions(request: PageRequest, account: AccountSummary): Promise<Answer> {
  const { form, options } = request
  const { accountId } = account
  const sessionId = idOf(form.text('session'))
  const by = actorOf(request)
  await options.sql.begin(async transaction => {
    if (sessionId === null) await endAllSessions(transaction, accountId)
    else if (!(await endSession({ sql: transaction }, { accountId, sessionId }))) return
    await recordAction(transaction, { by, action: 'session.end', accountId, subject: String(sessionId ?? 'all') })
  })
  return done(account, 'signed_out', '#sessions')
}
