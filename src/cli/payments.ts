/** CLI commands for operators' roles and second factors, and for bank transfers. */

import { recordMails } from '../accounts/mail-log.ts'
import { MAILS } from '../accounts/mail-texts.ts'
import { setRole } from '../accounts/operator.ts'
import { COMMAND_LINE } from '../accounts/operator-log.ts'
import { isRole } from '../accounts/roles.ts'
import { resetSecondFactor } from '../accounts/second-factor.ts'
import { createMailer, createPayments } from '../app/back-office.ts'
import type { Foundation } from '../app/foundation.ts'
import { catalogue } from '../catalogue/current.ts'
import type { MailMessage } from '../lib/mail.ts'
import { enterTransfer } from '../payments/enter.ts'
import { isOrderCode } from '../payments/order-code.ts'
import { createPullSources } from '../payments/providers/index.ts'
import { type Pulled, pullTransactions } from '../payments/pull.ts'
import type { PaymentServices, UnmatchedReason } from '../payments/types.ts'
import { assignTransaction, countUnmatched, listUnmatched } from '../payments/unmatched.ts'
import { readVnd, UsageError } from './arguments.ts'
import { type Action, accountOf } from './commands.ts'

const UNMATCHED_MAX = 200

/** `onCredited` does nothing here, because running gateways pick up a credit on their own within moments. */
function paymentsOf({ config, sql }: Foundation): PaymentServices {
  return createPayments({ config, sql, onCredited: () => {}, report: () => {} })
}

const operator: Action = async (foundation, { words }) => {
  const [email, state] = words as [string, string]
  const role = state === 'on' ? 'owner' : state === 'off' ? null : state
  if (role !== null && !isRole(role)) throw new UsageError('Usage: account operator EMAIL ROLE|on|off; on is owner')
  const { accountId } = await accountOf(foundation, email)
  const changed = await setRole(foundation.sql, { accountId, role, by: COMMAND_LINE })
  const become = role === null ? 'no operator' : `an operator with the role ${role}`
  const text = changed
    ? `${email} is ${become} now and must sign in again.`
    : 'That was already the case; nothing changed.'
  return { data: { account_id: accountId, operator: role !== null, role, changed }, text }
}

const secondFactor: Action = async (foundation, { words, options }) => {
  const [email] = words as [string]
  if (!options.reason)
    throw new UsageError('--reason is required: it records in the log why the second factor cannot be used')
  const { accountId } = await accountOf(foundation, email)
  const given = { accountId, by: COMMAND_LINE, reason: options.reason }
  const owner = await resetSecondFactor(foundation.sql, given)
  if (owner === null) {
    return { data: { account_id: accountId, changed: false, told: false }, text: `${email} has no second factor.` }
  }
  const facts = { service: catalogue.settings.service.toUpperCase(), publicUrl: foundation.config.publicUrl }
  // Whoever talked an operator into this may not be the owner.
  const told = await send(foundation, { to: owner.email, ...MAILS.factorReset[owner.language](facts) })
  const text = `${email} signs in by password, then sets up a new second factor.`
  const warning = ' They do not know yet: no email could be sent. Tell them.'
  return { data: { account_id: accountId, changed: true, told }, text: told ? text : text + warning }
}

/** False if the mail server does not take the email, or production has none. */
async function send({ config, sql }: Foundation, mail: MailMessage): Promise<boolean> {
  if (config.production && config.mail.smtpUrl === null) return false
  const mailer = recordMails(createMailer(config), sql, () => {})
  const sent = mailer.send(mail).then(
    () => true,
    () => false,
  )
  return sent.finally(() => mailer.close())
}

const unmatched: Action = async foundation => {
  const payments = paymentsOf(foundation)
  const { transactions, amountVnd } = await countUnmatched(payments)
  const waiting = await listUnmatched(payments, { limit: UNMATCHED_MAX })
  const list = waiting.map(row => ({
    number: row.bankTxnId,
    received_at: row.receivedAt.toISOString(),
    provider: row.provider,
    bank_reference: row.bankReference,
    amount_vnd: row.amountVnd,
    memo: row.memo,
    reason: row.reason,
  }))
  const rows = list.map(
    row => `${row.number}  ${row.received_at}  ${row.amount_vnd} VND  ${row.reason}  ${JSON.stringify(row.memo)}`,
  )
  const sum = `Transfers waiting: ${transactions}, ${amountVnd} VND in total.`
  return { data: { transactions, amount_vnd: amountVnd, list }, text: [...rows, sum].join('\n') }
}

const pull: Action = async foundation => {
  const payments = paymentsOf(foundation)
  const { providers, sepayApiUrl } = foundation.config
  const sources = createPullSources(providers, { limits: payments.limits, sepayApiUrl })
  if (sources.length === 0)
    throw new UsageError('There is no service to poll: set SEPAY_API_TOKEN; see docs/payments.md')
  const data: Record<string, Pulled> = {}
  for (const source of sources) {
    data[source.name] = await pullTransactions(payments, source, new Date())
  }
  const rows = Object.entries(data).map(([name, pulled]) => {
    const counts = Object.entries(pulled).map(([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`)
    return `${name}: ${counts.join(', ')}`
  })
  return { data, text: rows.join('\n') }
}

const assign: Action = async (foundation, { words, options }) => {
  const [number, target] = words as [string, string]
  if (!/^\d{1,15}$/.test(number))
    throw new UsageError('NUMBER must be a number from the first column of the output of: payment unmatched')
  if (!options.reason)
    throw new UsageError('--reason is required: it records in the log why the money belongs to this customer')
  const to = isOrderCode(target)
    ? { orderCode: target }
    : { accountId: (await accountOf(foundation, target)).accountId }
  const request = { bankTxnId: Number(number), to, by: COMMAND_LINE, reason: options.reason }
  const { outcome } = await assignTransaction(paymentsOf(foundation), request)
  if (outcome === 'unknown_transaction') throw new UsageError(`There is no transfer ${number}; see: payment unmatched`)
  if (outcome === 'unknown_target') throw new UsageError(`There is no order ${target}`)
  if (outcome === 'closed_target')
    throw new UsageError('That account has been deleted by its owner: return the money to its sender')
  const text = outcome === 'already' ? 'It is no longer waiting; nothing changed.' : `Credited to ${target}.`
  return { data: { number: request.bankTxnId, outcome }, text }
}

const enter: Action = async (foundation, { words, options }) => {
  const [bankReference, amount] = words as [string, string]
  if (!options.reason) throw new UsageError('--reason is required: it records in the log where the transfer was seen')
  const given = { bankReference, amountVnd: readVnd(amount), by: COMMAND_LINE, reason: options.reason }
  const account = options.account === undefined ? {} : { accountNumber: options.account }
  try {
    const received = await enterTransfer(paymentsOf(foundation), { ...given, memo: options.memo ?? '', ...account })
    return {
      data: { number: received.bankTxnId, outcome: received.outcome },
      text: received.outcome === 'unmatched' ? waitingText(received) : MEANINGS[received.outcome],
      failed: received.outcome === 'conflict',
    }
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`${error.message}.`)
    throw error
  }
}

const MEANINGS = {
  credited: 'Credited to the owner of the order in the memo.',
  duplicate: 'Entered before; nothing changed.',
  alias: 'A service has already reported this transfer; nothing changed. If it waits for an owner: payment unmatched.',
  conflict:
    'Entered before under this reference with another amount; nothing changed. If that was wrong, adjust the balance: credit.',
  ignored: 'Kept and ignored.',
} as const

/** Why a transfer that was entered has not been credited. */
const REASONS: Readonly<Record<UnmatchedReason, string>> = {
  no_code: 'the memo names no order',
  unknown_code: 'there is no order with the code in the memo',
  two_owners: 'the memo names orders of two customers',
  amount_over_limit: 'it is larger than transfers that are credited without an operator',
  other_account: 'it is to an account other than BANK_ACCOUNT',
  repeated_reference: 'another transfer has this bank reference, and may be the same',
  maybe_credited: 'a transfer of this amount was credited to its order, and may be the same',
  account_closed: 'its owner has deleted the account, so it goes back to its sender',
}

function waitingText({ bankTxnId, reason }: { readonly bankTxnId: number; readonly reason: UnmatchedReason }): string {
  return `Not credited: ${REASONS[reason]}. To credit it: payment assign ${bankTxnId} EMAIL --reason TEXT`
}

export const PAYMENT_ACTIONS: Readonly<Record<string, Action>> = {
  'account operator': operator,
  'account reset-second-factor': secondFactor,
  'payment unmatched': unmatched,
  'payment pull': pull,
  'payment assign': assign,
  'payment enter': enter,
}
