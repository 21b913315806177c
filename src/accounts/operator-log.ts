/** What operators did, and why. Append-only; written in the transaction of the deed. */

import type { AnySql } from '../lib/database.ts'

/** An operator's account and address, or null and `command line`. */
export interface Actor {
  readonly accountId: number | null
  readonly name: string
}

export const COMMAND_LINE: Actor = { accountId: null, name: 'command line' }

export interface OperatorAction {
  readonly actionId: number
  readonly at: Date
  readonly by: Actor
  /** Such as `account.block`, `balance.adjust`, `payment.assign`. */
  readonly action: string
  /** Whom it concerned. */
  readonly accountId: number | null
  /** What it concerned: an amount, a transaction, an order. */
  readonly subject: string
  readonly reason: string
}

const TEXT_CHARACTERS_MAX = 1_000
const LIST_MAX = 200
const INSERT = `insert into operator_action (operator_account_id, operator_name, action, account_id, subject, reason)
  values ($1::text::bigint, $2, $3, $4::text::bigint, $5, $6)`
const COLUMNS = 'action_id, at, operator_account_id, operator_name, action, account_id, subject, reason'
const LIST = `select ${COLUMNS} from operator_action where ($1::text::bigint is null or action_id < $1::text::bigint)
  order by action_id desc limit $2::text::integer`
const LIST_OF = `select ${COLUMNS} from operator_action
  where account_id = $3::text::bigint and ($1::text::bigint is null or action_id < $1::text::bigint)
  order by action_id desc limit $2::text::integer`

export interface NewAction {
  readonly by: Actor
  readonly action: string
  readonly accountId?: number | null
  readonly subject?: string
  readonly reason?: string
}

export async function recordAction(sql: AnySql, entry: NewAction): Promise<void> {
  const { by, action, accountId = null, subject = '', reason = '' } = entry
  await sql.unsafe(INSERT, [
    number(by.accountId),
    clean(by.name),
    action,
    number(accountId),
    clean(subject),
    clean(reason),
  ])
}

/** Newest first. */
export async function listActions(
  sql: AnySql,
  { beforeId, limit = 50, accountId }: { beforeId?: number; limit?: number; accountId?: number } = {},
): Promise<readonly OperatorAction[]> {
  const page = [number(beforeId ?? null), String(Math.min(limit, LIST_MAX))]
  const rows = await (accountId === undefined
    ? sql.unsafe(LIST, page)
    : sql.unsafe(LIST_OF, [...page, String(accountId)]))
  return rows.map(row => ({
    actionId: Number(row.action_id),
    at: row.at,
    by: {
      accountId: row.operator_account_id === null ? null : Number(row.operator_account_id),
      name: row.operator_name,
    },
    action: row.action,
    accountId: row.account_id === null ? null : Number(row.account_id),
    subject: row.subject,
    reason: row.reason,
  }))
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
}

function number(value: number | null): string | null {
  return value === null ? null : String(value)
}
