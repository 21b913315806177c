/** CLI commands for accounts, keys, credit, audit and migration; each gets an open database. */

import { type AccountWithWallet, createAccount, findAccountByEmail } from '../accounts/accounts.ts'
import { createKey } from '../accounts/keys.ts'
import { revokeCustomerKey } from '../accounts/operator-keys.ts'
import { COMMAND_LINE, recordAction } from '../accounts/operator-log.ts'
import type { Foundation } from '../app/foundation.ts'
import { audit } from '../audit/audit.ts'
import { type CreditAnswer, credit } from '../ledger/credit.ts'
import type { Sql } from '../lib/database.ts'
import { uuidv7 } from '../lib/ids.ts'
import { formatVnd, vndToMicro } from '../lib/money.ts'
import { type Command, noActiveKey, readVnd, UsageError } from './arguments.ts'
import { requireKnownSecrets } from './known-secrets.ts'

export interface Answer {
  /** What `--json` prints. */
  readonly data: unknown
  readonly text: string
  /** True if the command failed but has output; the exit status is then 1. */
  readonly failed?: boolean
}

export type Action = (foundation: Foundation, command: Command) => Promise<Answer>

export async function accountOf({ sql }: Foundation, email: string): Promise<AccountWithWallet> {
  const account = await findAccountByEmail(sql, email)
  if (account === null)
    throw new UsageError(`There is no account for ${email}. Create one with: account create ${email}`)
  return account
}

const accountCreate: Action = async ({ sql, secrets }, { words, options }) => {
  const [email] = words as [string]
  const vnd = options.credit === undefined ? 0 : readVnd(options.credit)
  if (vnd < 0) throw new UsageError('--credit must be 0 or more')
  await requireKnownSecrets({ sql, secrets })
  const { accountId } = await createAccount(sql, email)
  const { keyId, key } = await createKey(sql, secrets, { accountId, label: 'first' })
  if (vnd > 0) await adjust(sql, { accountId, vnd, reference: `account-create-${accountId}` })
  return {
    data: { account_id: accountId, key_id: keyId, api_key: key },
    text: `Account ${accountId} for ${email}, balance ${vnd} VND\nKey ${keyId}\nAPI key  ${key}`,
  }
}

const keyCreate: Action = async (foundation, { words, options }) => {
  const { accountId } = await accountOf(foundation, words[0] as string)
  const label = options.label ?? ''
  await requireKnownSecrets(foundation)
  const { keyId, key } = await createKey(foundation.sql, foundation.secrets, { accountId, label })
  return { data: { key_id: keyId, api_key: key }, text: `Key ${keyId}\nAPI key  ${key}` }
}

export function readKeyId(number: string, email: string): number {
  if (/^\d{1,15}$/.test(number)) return Number(number)
  throw new UsageError(`${JSON.stringify(number)} is not a key's number; to list the keys, run: key list ${email}`)
}

const keyRevoke: Action = async (foundation, { words }) => {
  const [email, number] = words as [string, string]
  const keyId = readKeyId(number, email)
  const { accountId } = await accountOf(foundation, email)
  const revoked = await revokeCustomerKey(foundation.sql, { accountId, keyId, by: COMMAND_LINE, reason: '' })
  if (!revoked) throw noActiveKey(email, keyId)
  return { data: { key_id: keyId, revoked: true }, text: `Key ${keyId} is revoked: its next call is refused.` }
}

/** Books an adjustment once per reference, and logs it for operators. */
function adjust(
  sql: Sql,
  { accountId, vnd, reference, reason }: { accountId: number; vnd: number; reference: string; reason?: string },
): Promise<CreditAnswer> {
  return sql.begin(async transaction => {
    const amountMicroVnd = vndToMicro(vnd)
    const note = reason ?? null
    const booked = await credit(transaction, { accountId, amountMicroVnd, kind: 'adjustment', reference, note })
    if (booked.outcome !== 'already') {
      const subject = `${vnd} VND`
      const by = COMMAND_LINE
      await recordAction(transaction, { by, action: 'balance.adjust', accountId, subject, reason: reason ?? '' })
    }
    return booked
  })
}

const creditWallet: Action = async (foundation, { words, options }) => {
  const [email, amount] = words as [string, string]
  const { accountId } = await accountOf(foundation, email)
  const vnd = readVnd(amount)
  if (!options.reason) throw new UsageError('--reason is required: it records in the journal why the money moved')
  const reference = options.ref ?? uuidv7()
  const answer = await adjust(foundation.sql, { accountId, vnd, reference, reason: options.reason })
  const balance = formatVnd(answer.balanceAfterMicroVnd)
  return {
    data: { account_id: accountId, outcome: answer.outcome, balance_vnd: balance },
    text:
      answer.outcome === 'already'
        ? 'Already booked under this reference.'
        : `${vnd} VND booked; balance ${balance} VND`,
  }
}

const AUDIT_TIMEOUT_MS = 3_600_000

export const auditAll: Action = async ({ sql }, { options }) => {
  const { mode = 'full' } = options
  if (mode !== 'full' && mode !== 'incremental') throw new UsageError('--mode takes full or incremental')
  const report = await audit(sql, { mode, timeoutMs: AUDIT_TIMEOUT_MS })
  const { clean, accounts, ledger, days, payments, spool, fullAt } = report
  const { wallets, calls, openHolds } = ledger
  const { transfers, orders, creditDays } = payments
  const data = {
    clean,
    mode: report.mode,
    full_at: fullAt.toISOString(),
    differences: { ...ledger.differences, orphan: report.differences.orphan },
    days: { usage_days: report.differences.usage_days },
    payments: payments.differences,
    spool: spool.differences,
    accounts,
    transfers,
    orders,
    credit_days: creditDays,
    usage_days: days.usageDays,
    spools: spool.spools,
    wallets,
    calls,
    open_holds: openHolds,
  }
  const concerned: readonly (readonly [string, readonly (string | number)[]])[] = [
    ['accounts', accounts],
    ['transfers', transfers],
    ['orders', orders],
    ['days of credits', creditDays],
    ['days of calls', days.usageDays],
    ['spools', spool.spools.map(({ folder }) => folder)],
  ]
  return {
    data,
    text: [
      `${wallets} wallets, ${calls} calls, ${openHolds} open holds`,
      ...(report.mode === 'full'
        ? []
        : [`Read only what is new; the whole journal was last read at ${fullAt.toISOString()}.`]),
      ...Object.entries(report.differences).map(([name, count]) => `  ${name.padEnd(11)} ${count}`),
      clean ? 'No differences.' : 'DIFFERENCES',
      ...concerned.filter(([, found]) => found.length > 0).map(([what, found]) => `First ${what}: ${found.join(', ')}`),
    ].join('\n'),
    failed: !clean,
  }
}

const migrated: Action = async () => ({ data: { migrated: true }, text: 'The schema is up to date.' })

export const BASIC_ACTIONS: Readonly<Record<string, Action>> = {
  'account create': accountCreate,
  'key create': keyCreate,
  'key revoke': keyRevoke,
  credit: creditWallet,
  audit: auditAll,
  migrate: migrated,
}
