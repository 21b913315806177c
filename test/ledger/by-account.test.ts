/**
 * Accounts could be spread over several databases, because no statement about money concerns more than one account: every
 * unique index of a table with account rows includes the account, and every statement that a call waits for finds its rows by
 * account. The lists below name every table and statement. The tests fail for one that is not listed.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { EXTEND } from '../../src/ledger/extend.ts'
import { HOLD, HOLD_WITHIN_LIMITS } from '../../src/ledger/hold.ts'
import { HOLD_COVERED } from '../../src/ledger/hold-covered.ts'
import { SETTLE } from '../../src/ledger/settle.ts'
import { SETTLE_COVERED } from '../../src/ledger/settle-covered.ts'
import { openDatabase } from '../../src/lib/database.ts'
import { createTestDatabase } from '../support/postgres.ts'

/** Tables with account rows. With several databases, all rows of an account would be in the same one. */
const ACCOUNT_TABLES = [
  'account_daily',
  'account_monthly',
  'api_key',
  'audit_point',
  'client_request',
  'credit',
  'hold',
  'usage',
  'usage_daily',
  'usage_hourly',
  'usage_retired',
  'wallet',
]
/**
 * Tables of the directory that all databases would share, because rows are looked up by something other than the account. No call
 * uses these tables.
 */
const DIRECTORY_TABLES = [
  'account',
  'alert',
  'alert_balance',
  'alert_delivery',
  'alert_settings',
  'bank_notification',
  'bank_pull',
  'bank_txn',
  'email_token',
  'identity',
  'invoice_details',
  'mail_sent',
  'new_device',
  'operator_action',
  'passkey',
  'passkey_challenge',
  'recovery_code',
  'session',
  'sign_in_attempt',
  'throttle',
  'topup_order',
  'totp',
  'webhook',
  'webhook_secret',
]
/** Tables that each database would have for itself, because their rows belong to no account. */
const LOCAL_TABLES = [
  'alert_scan',
  'attempt_hourly',
  'audit_result',
  'banner',
  'call_hourly',
  'call_roll_up',
  'catalogue',
  'credit_daily',
  'database_identity',
  'database_timeline',
  'entry_daily',
  'first_byte_hourly',
  'gateway_instance',
  'housekeeping',
  'key_flight',
  'maintenance',
  'migration',
  'process_status',
  'rate_grant',
  'rate_window',
  'secret_fingerprint',
  'spool_set_aside',
  'unknown_model',
  'upstream_daily',
  'upstream_out',
  'usage_roll_up',
]
/**
 * Unique indexes without the account, because they are used to find the account of an API key. With several databases, the key
 * itself or a directory would have to say which database to search.
 */
const FOUND_BY_KEY = ['api_key_hash', 'api_key_replaced_hash']

/** Statements that handle a call or a payment, or anything else that concerns one account at a time. */
const HOT = [
  'hold.ts HOLD',
  'hold.ts HOLD_WITHIN_LIMITS',
  'hold-covered.ts HOLD_COVERED',
  'extend.ts EXTEND',
  'settle.ts SETTLE',
  'settle-covered.ts SETTLE_COVERED',
  'settle.ts LOOKUP',
  'settle.ts RELEASE',
  'locked.ts LOCKED',
  'locked.ts LOCKED_OF_KEYS',
  'credit.ts LOCK',
  'credit.ts FIND',
  'credit.ts BOOK',
  'retire.ts SUM',
  'refund.ts CHARGED',
  'retire.ts DELETE',
  'replay.ts PROVEN',
]
/**
 * Scans that deliberately search by call instead of by account. Index scans detect a settlement that names a different account
 * than the call's hold or usage row, provided that both accounts are in one database.
 */
const BY_CALL: Readonly<Record<string, readonly string[]>> = {
  'settle.ts SETTLE': [
    'Index Scan on hold (call_id = requests.call_id)',
    'Index Only Scan on usage (call_id = requests.call_id)  (account_id <> requests.account_id)',
  ],
  // The places of the holds that were found by account and call.
  'settle-covered.ts SETTLE_COVERED': ['Tid Scan on hold '],
}
/** Statements that find their rows by API key; see `FOUND_BY_KEY`. */
const BY_KEY = ['../accounts/find-key.ts FIND']
/**
 * Statements that concern a gateway process, or all accounts at once. They would have to run in every database. No call waits for
 * them.
 */
const BACKGROUND = [
  'day-totals.ts NEXT',
  'day-totals.ts NEXT_OF_MONTHS',
  'day-totals.ts ENTRY_DAYS',
  'day-totals.ts ACCOUNT_DAYS',
  'day-totals.ts CREDIT_DAYS',
  'day-totals.ts SUM_CREDITS',
  'day-totals.ts SUM_MONTH',
  'instance.ts ABANDONED',
  'instance.ts TAKE_ALONG',
  'instance.ts MINE',
  'instance.ts FORGET',
  'recount.ts HAS_CALLS',
  'retire.ts PAGE',
  'roll-up.ts ENDED',
  'roll-up-accounts.ts INTO',
  'roll-up-accounts.ts MERGE',
  'roll-up-accounts.ts FORGET',
]
const LEDGER = new URL('../../src/ledger/', import.meta.url)
const FILES = [
  ...readdirSync(LEDGER).filter(name => name.endsWith('.ts')),
  '../accounts/find-key.ts',
  '../operations/rate-limit.ts',
  '../lib/lease.ts',
]

const database = await createTestDatabase()
// Plans statements as the ledger does: with index lookups only, and one plan for every size of batch.
const sql = openDatabase({
  url: database.url,
  name: 'plans',
  connectionsMax: 1,
  session: { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', enable_bitmapscan: 'off' },
})
afterAll(async () => {
  await sql.end({ timeout: 5 })
  await database.drop()
})

/** Statements that are assembled from parts. */
const MADE: Readonly<Record<string, string>> = {
  'hold.ts HOLD': HOLD,
  'hold.ts HOLD_WITHIN_LIMITS': HOLD_WITHIN_LIMITS,
  'hold-covered.ts HOLD_COVERED': HOLD_COVERED,
  'extend.ts EXTEND': EXTEND,
  'settle.ts SETTLE': SETTLE,
  'settle-covered.ts SETTLE_COVERED': SETTLE_COVERED,
}

/** The parts, which are not complete statements. */
const PARTS = ['hold.ts KNOWN', 'hold.ts LIMITED_CALLS', 'hold.ts GRANTED', 'settle.ts RECORD_CHARGES']

/** Finds the statements in `FILES` that use a table with account rows. The keys are `<file> <constant>`. */
function statements(): Map<string, string> {
  const found = new Map(Object.entries(MADE))
  const names = new RegExp(`\\b(from|join|into|update)\\s+(${ACCOUNT_TABLES.join('|')})\\b`)
  for (const file of FILES) {
    const source = readFileSync(new URL(file, LEDGER), 'utf8')
    for (const [, constant, text] of source.matchAll(/^(?:export )?const ([A-Z_]+) =\s*(`[^`]*`|'[^'\n]*')$/gm)) {
      const name = `${file} ${constant}`
      if (PARTS.includes(name) || found.has(name)) continue
      if (names.test(text as string)) found.set(name, (text as string).slice(1, -1))
    }
  }
  return found
}

interface PlanNode {
  readonly [property: string]: unknown
  readonly Plans?: readonly PlanNode[]
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** Scans of account rows, in the statement's plan, that search neither by account nor through an index of `FOUND_BY_KEY`. */
async function strayAccesses(statement: string): Promise<string[]> {
  const [row] = await sql.unsafe(`explain (generic_plan, format json) ${statement}`)
  const [{ Plan: plan }] = (row as Record<string, unknown>)['QUERY PLAN'] as [{ Plan: PlanNode }]
  return nodesOf(plan).flatMap(node => {
    const { 'Relation Name': table, 'Index Name': index, Operation: operation } = node
    if (typeof table !== 'string' || !ACCOUNT_TABLES.includes(table) || operation !== undefined) return []
    if (FOUND_BY_KEY.includes(index as string)) return []
    const conditions = `${node['Index Cond'] ?? ''} ${node['Recheck Cond'] ?? ''} ${node.Filter ?? ''}`
    const byAccount = /\baccount_id = /.test(conditions) || /= (\w+\.)?account_id\b/.test(conditions)
    return byAccount ? [] : [`${node['Node Type']} on ${table} ${conditions.trim()}`]
  })
}

async function indexesWithoutAccount(): Promise<string[]> {
  const rows = await database.sql.unsafe(
    `select i.indexrelid::regclass::text as name from pg_index i
      where i.indisunique and i.indrelid::regclass::text = any ($1::text[]) and not exists (
        select 1 from pg_attribute a where a.attrelid = i.indrelid and a.attname = 'account_id'
           and a.attnum = any (i.indkey[0:i.indnkeyatts - 1])) order by 1`,
    [`{${ACCOUNT_TABLES.join(',')}}`],
  )
  return rows.map(row => row.name)
}

test('every table is listed', async () => {
  const rows = await database.sql.unsafe(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`,
  )
  expect(rows.map(row => row.relname)).toEqual([...ACCOUNT_TABLES, ...DIRECTORY_TABLES, ...LOCAL_TABLES].sort())
})

test('every unique index of accounts’ rows contains the account, except those that find a key', async () => {
  expect(await indexesWithoutAccount()).toEqual(FOUND_BY_KEY)
  await database.sql.unsafe('create unique index usage_by_call_alone on usage (call_id)')
  expect(await indexesWithoutAccount()).toEqual([...FOUND_BY_KEY, 'usage_by_call_alone'])
  await database.sql.unsafe('drop index usage_by_call_alone')
})

test('every statement on accounts’ rows is listed', () => {
  expect([...statements().keys()].sort()).toEqual([...HOT, ...BY_KEY, ...BACKGROUND].sort())
})

describe('finds its rows by account:', () => {
  test.each([...HOT, ...BY_KEY])('%s', async name => {
    expect(await strayAccesses(statements().get(name) as string)).toEqual(BY_CALL[name] ?? [])
  })
})

test.each([
  'select 1 from usage where call_id = $1::uuid',
  'update wallet set seq = seq + 1 where balance_micro_vnd = $1::bigint',
  'delete from hold where instance_id = $1::bigint',
  'select sum(cost_micro_vnd) from usage_daily where key_id = $1::bigint and account_id > 5',
])('a statement that does not find its rows by account is noticed: %s', async statement => {
  expect(await strayAccesses(statement)).toHaveLength(1)
})
