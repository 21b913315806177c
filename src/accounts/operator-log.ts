/** What operators did, and why. Append-only, written in the same transaction as the action. */

import { type AnySql, escapeLike } from '../lib/database.ts'
import type { Session } from './types.ts'

/** Who acted: an operator's account id and email address; for the command line, null and `command line`. */
export interface Actor {
  readonly accountId: number | null
  readonly name: string
}

export const COMMAND_LINE: Actor = { accountId: null, name: 'command line' }
/** The name logged for customers who act on their own account. */
export const CUSTOMER_NAME = 'customer'

/**
 * The actor to log when people act on their own account. Customers are logged by account id alone, because log entries are
 * never changed and must not keep the email address of a deleted account.
 */
export function actingSelf({ accountId, email, role }: Pick<Session, 'accountId' | 'email' | 'role'>): Actor {
  return { accountId, name: role === null ? CUSTOMER_NAME : email }
}

export interface OperatorAction {
  readonly actionId: number
  readonly at: Date
  readonly by: Actor
  /** The kind of action, e.g. `account.block`, `balance.adjust` or `payment.assign`. */
  readonly action: string
  /** The account that was acted on. */
  readonly accountId: number | null
  /** Email address of the account that was acted on. */
  readonly email: string | null
  /** Details: an amount, a transaction, an order. */
  readonly subject: string
  readonly reason: string
}

const TEXT_CHARACTERS_MAX = 1_000
const LIST_MAX = 200
const INSERT = `insert into operator_action (operator_account_id, operator_name, action, account_id, subject, reason)
  values ($1::text::bigint, $2, $3, $4::text::bigint, $5, $6)`
const COLUMNS = `o.action_id, o.at, o.operator_account_id, o.operator_name, o.action, o.account_id, o.subject, o.reason,
  (select email from account a where a.account_id = o.account_id) as email`
/** Parameter 7 is the search text, with the wildcards of `like` escaped. */
const FILTER = `($1::text is null or o.action_id < $1::text::bigint) and ($3::text is null or o.action = $3)
  and ($4::text is null or o.operator_name = $4) and ($5::text is null or o.at >= $5::text::timestamptz)
  and ($6::text is null or o.at < $6::text::timestamptz)
  and ($7::text is null or (o.reason || ' ' || o.subject) ilike '%' || $7 || '%' escape '\\')`
const PAGE = 'order by o.action_id desc limit $2::text::integer'
const LIST = `select ${COLUMNS} from operator_action o where ${FILTER} ${PAGE}`
const LIST_OF = `select ${COLUMNS} from operator_action o where o.account_id = $8::text::bigint and ${FILTER} ${PAGE}`
const NAMES = 'select distinct operator_name from operator_action order by 1 limit 100'

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

export interface ActionFilter {
  readonly accountId?: number | undefined
  readonly action?: string | undefined
  /** The logged name of the operator, which is matched exactly. */
  readonly by?: string | undefined
  /** Text to search for in the reason and the subject. */
  readonly text?: string | undefined
  readonly from?: Date | undefined
  /** The end, exclusive. */
  readonly to?: Date | undefined
}

/** Newest first. */
export async function listActions(
  sql: AnySql,
  given: ActionFilter & { readonly beforeId?: number; readonly limit?: number } = {},
): Promise<readonly OperatorAction[]> {
  const { beforeId, limit = 50, accountId, action, by, text, from, to } = given
  const parameters = [
    number(beforeId ?? null),
    String(Math.min(limit, LIST_MAX)),
    action ?? null,
    by ?? null,
    from?.toISOString() ?? null,
    to?.toISOString() ?? null,
    text === undefined ? null : escapeLike(clean(text)),
  ]
  const rows = await (accountId === undefined
    ? sql.unsafe(LIST, parameters)
    : sql.unsafe(LIST_OF, [...parameters, String(accountId)]))
  return rows.map(row => ({
    actionId: Number(row.action_id),
    at: row.at,
    by: {
      accountId: row.operator_account_id === null ? null : Number(row.operator_account_id),
      name: row.operator_name,
    },
    action: row.action,
    accountId: row.account_id === null ? null : Number(row.account_id),
    email: row.email,
    subject: row.subject,
    reason: row.reason,
  }))
}

export async function listActors(sql: AnySql): Promise<readonly string[]> {
  return (await sql.unsafe(NAMES)).map(row => row.operator_name)
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
}

function number(value: number | null): string | null {
  return value === null ? null : String(value)
}
