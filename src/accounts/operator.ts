/** Operators' actions on accounts: search, block, grant an operator role. */

import type { AnySql, Sql, TransactionSql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { listPage, type SearchPage, type SearchPlace, searchPage, searchStatement } from '../lib/search.ts'
import { type Actor, recordAction } from './operator-log.ts'
import { mayDo, type OperatorRole, readRole, roleCode } from './roles.ts'
import { endAllSessions } from './sessions.ts'

export interface AccountSummary {
  readonly accountId: number
  readonly email: string
  readonly createdAt: Date
  readonly emailVerifiedAt: Date | null
  readonly blockedAt: Date | null
  /** When the owner deleted the account; null if they have not. */
  readonly deletedAt: Date | null
  /** Null: not an operator. */
  readonly role: OperatorRole | null
  readonly balanceMicroVnd: MicroVnd
  readonly heldMicroVnd: MicroVnd
  readonly activeKeys: number
  readonly cost30DaysMicroVnd: MicroVnd
  readonly lastUsedDay: string | null
}

/** Maximum number of email addresses that a search compares with its text for one page of results, which takes about 30 ms. */
const COMPARED_MAX = 50_000
const SEARCH_CHARACTERS_MAX = 254
const LIST_MAX = 100

const SET_ROLE = `update account set is_operator = $2::text is not null, operator_role = $2::text::smallint
  where account_id = $1::text::bigint
    and case when is_operator then coalesce(operator_role, ${roleCode('owner')}) end is distinct from $2::text::smallint
  returning account_id`
const BLOCK = `update account set blocked_at = now() where account_id = $1::text::bigint and blocked_at is null
  returning account_id`
const UNBLOCK = `update account set blocked_at = null where account_id = $1::text::bigint and blocked_at is not null
    and deleted_at is null
  returning account_id`
const SUSPEND = `update api_key set suspended_at = now()
  where account_id = $1::text::bigint and revoked_at is null and suspended_at is null`
const RESUME = 'update api_key set suspended_at = null where account_id = $1::text::bigint'
const LOCK_BOTH = `select account_id from account where account_id in ($1::text::bigint, $2::text::bigint)
  order by account_id for no key update`
const ROLES = `select account_id, is_operator, operator_role, blocked_at is not null as blocked from account
  where account_id in ($1::text::bigint, $2::text::bigint)`
const LOCK = 'select account_id from wallet where account_id = $1::text::bigint for no key update'
const summaryOf = (accounts: string): string => `
select a.account_id, a.email, a.created_at, a.email_verified_at, a.blocked_at, a.deleted_at, a.is_operator, a.operator_role,
       w.balance_micro_vnd, w.held_micro_vnd, k.active, d.cost::text as cost, l.last_used
  from (${accounts}) a join wallet w using (account_id)
 cross join lateral (
   select count(*)::integer as active from api_key
    where account_id = a.account_id and revoked_at is null and not playground) k
 cross join lateral (
   select coalesce(sum(charged_micro_vnd), 0) as cost from usage_daily
    where account_id = a.account_id and day > (now() at time zone 'Asia/Ho_Chi_Minh')::date - 30) d
  left join lateral (
   select to_char(day, 'YYYY-MM-DD') as last_used from usage_daily
    where usage_daily.account_id = a.account_id order by day desc limit 1) l on true
 order by a.account_id desc`
const ONE = summaryOf('select * from account where account_id = $1::text::bigint')
const SOME = summaryOf('select * from account where account_id = any ($1::bigint[])')
const NEWEST = `select account_id as id from account
  where account_id < $1::text::bigint order by account_id desc limit $2::text::integer`
/** $7: the search text if it can be an account number, else null. */
const SEARCH = searchStatement({
  rows: 'select account_id as id, created_at as at, account.* from account',
  contains: `email_key like '%' || lower($5) || '%' escape '\\'`,
  equals: ['id = $7::text::bigint'],
  beginnings: ['email_key'],
})

/**
 * Whether the operator may still do this to the account. Locks both accounts until the transaction ends: of two owners who remove
 * or block each other at once, only one succeeds, so that an owner is always left.
 */
async function mayStillAct(
  transaction: TransactionSql,
  { accountId, by }: { accountId: number; by: Actor },
  need: 'team' | 'customers',
): Promise<boolean> {
  if (by.accountId === null) return true
  const both = [String(by.accountId), String(accountId)]
  await transaction.unsafe(LOCK_BOTH, both)
  // A separate statement, so that it sees what the previous holder of the locks committed.
  const rows = await transaction.unsafe(ROLES, both)
  const actor = rows.find(row => Number(row.account_id) === by.accountId)
  const target = rows.find(row => Number(row.account_id) === accountId)
  if (actor === undefined || actor.blocked) return false
  return mayDo(readRole(actor.is_operator, actor.operator_role), target?.is_operator === true ? 'team' : need)
}

/**
 * Sets an account's operator role; null removes it. Ends all sessions of the account, because another role may have stricter
 * rules for signing in. False if nothing changed, the account does not exist, or `by` is no longer an owner.
 */
export function setRole(
  sql: Sql,
  { accountId, role, by, reason = '' }: { accountId: number; role: OperatorRole | null; by: Actor; reason?: string },
): Promise<boolean> {
  return sql.begin(async transaction => {
    if (!(await mayStillAct(transaction, { accountId, by }, 'team'))) return false
    const code = role === null ? null : String(roleCode(role))
    if ((await transaction.unsafe(SET_ROLE, [String(accountId), code])).length === 0) return false
    await endAllSessions(transaction, accountId)
    const action = role === null ? 'operator.off' : 'operator.on'
    await recordAction(transaction, { by, action, accountId, subject: role ?? '', reason })
    return true
  })
}

const OPERATORS = `select account_id, email, is_operator, operator_role,
    exists (select from totp t where t.account_id = a.account_id)
      or exists (select from passkey p where p.account_id = a.account_id) as has_second_factor
  from account a where is_operator order by coalesce(operator_role, ${roleCode('owner')}), account_id limit ${LIST_MAX}`

export interface Operator {
  readonly accountId: number
  readonly email: string
  readonly role: OperatorRole
  readonly hasSecondFactor: boolean
}

/** Lists owners first. */
export async function listOperators(sql: AnySql): Promise<readonly Operator[]> {
  return (await sql.unsafe(OPERATORS)).map(row => ({
    accountId: Number(row.account_id),
    email: row.email,
    role: readRole(true, row.operator_role) as OperatorRole,
    hasSecondFactor: row.has_second_factor,
  }))
}

interface BlockRequest {
  readonly accountId: number
  readonly by: Actor
  readonly reason: string
}

/**
 * Blocks an account: ends its sessions and suspends its keys. The balance and the keys are kept. False if the account was
 * already blocked, or `by` may no longer block it.
 */
export function blockAccount(sql: Sql, request: BlockRequest): Promise<boolean> {
  return change(sql, request, 'account.block', BLOCK, async transaction => {
    await transaction.unsafe(SUSPEND, [String(request.accountId)])
    await endAllSessions(transaction, request.accountId)
  })
}

/** Unblocks an account and its keys. False if it was not blocked, has been deleted, or `by` may no longer unblock it. */
export function unblockAccount(sql: Sql, request: BlockRequest): Promise<boolean> {
  return change(sql, request, 'account.unblock', UNBLOCK, async transaction => {
    await transaction.unsafe(RESUME, [String(request.accountId)])
  })
}

function change(
  sql: Sql,
  { accountId, by, reason }: BlockRequest,
  action: string,
  statement: string,
  follow: (transaction: TransactionSql) => Promise<void>,
): Promise<boolean> {
  return sql.begin(async transaction => {
    // Creating a key takes the same lock, so no new key slips through.
    await transaction.unsafe(LOCK, [String(accountId)])
    if (!(await mayStillAct(transaction, { accountId, by }, 'customers'))) return false
    if ((await transaction.unsafe(statement, [String(accountId)])).length === 0) return false
    await follow(transaction)
    await recordAction(transaction, { by, action, accountId, reason })
    return true
  })
}

export interface FoundAccounts extends Omit<SearchPage, 'ids'> {
  readonly accounts: readonly AccountSummary[]
}

/** Finds accounts whose email address contains the text or whose number equals it, newest first. */
export async function searchAccounts(
  sql: AnySql,
  given: {
    readonly text: string
    readonly place?: SearchPlace | undefined
    readonly limit?: number
    readonly comparedMax?: number
  },
): Promise<FoundAccounts> {
  const { place, comparedMax = COMPARED_MAX } = given
  const limit = Math.min(given.limit ?? 50, LIST_MAX)
  const text = given.text.trim().toWellFormed().replaceAll('\0', '').slice(0, SEARCH_CHARACTERS_MAX)
  const number = /^\d{1,15}$/.test(text) ? text : null
  const { ids, next, comparedTo } = await (text === ''
    ? listPage(sql, NEWEST, { place, limit })
    : searchPage(sql, SEARCH, { text, parameters: [number], place, limit, comparedMax }))
  const rows = await sql.unsafe(SOME, [`{${ids.join(',')}}`])
  return { accounts: rows.map(toSummary), next, comparedTo }
}

/** Null if there is no such account. */
export async function readAccountSummary(sql: AnySql, accountId: number): Promise<AccountSummary | null> {
  const row = (await sql.unsafe(ONE, [String(accountId)]))[0]
  return row === undefined ? null : toSummary(row)
}

interface Row {
  readonly account_id: string
  readonly email: string
  readonly created_at: Date
  readonly email_verified_at: Date | null
  readonly blocked_at: Date | null
  readonly deleted_at: Date | null
  readonly is_operator: boolean
  readonly operator_role: number | null
  readonly balance_micro_vnd: string
  readonly held_micro_vnd: string
  readonly active: number
  readonly cost: string
  readonly last_used: string | null
}

function toSummary(row: unknown): AccountSummary {
  const from = row as Row
  return {
    accountId: Number(from.account_id),
    email: from.email,
    createdAt: from.created_at,
    emailVerifiedAt: from.email_verified_at,
    blockedAt: from.blocked_at,
    deletedAt: from.deleted_at,
    role: readRole(from.is_operator, from.operator_role),
    balanceMicroVnd: microVnd(BigInt(from.balance_micro_vnd)),
    heldMicroVnd: microVnd(BigInt(from.held_micro_vnd)),
    activeKeys: from.active,
    cost30DaysMicroVnd: microVnd(BigInt(from.cost)),
    lastUsedDay: from.last_used,
  }
}
