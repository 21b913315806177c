/** The command line, the operator's page and the metrics run the same audit and report the same differences. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { environmentConfig, type Foundation } from '../../src/app/foundation.ts'
import { ACTIONS } from '../../src/cli/actions.ts'
import { readCommand } from '../../src/cli/arguments.ts'
import { writeExposition } from '../../src/lib/metrics.ts'
import { parseSecretSet } from '../../src/lib/secrets.ts'
import { DatabaseMetrics } from '../../src/telemetry/database.ts'
import { readable, Visitor } from '../dashboard/visitor.ts'
import { parseExposition } from '../support/exposition.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let operator: Visitor
let accountId: number
beforeAll(async () => {
  running = await startTestGateway()
  operator = new Visitor(running.url)
  await operator.signUp('operator@example.com')
  const { sql } = running.database
  await sql`update account set is_operator = true where email = 'operator@example.com'`
  await operator.post('/signin', { email: 'operator@example.com', password: 'mot cau dai de nho' })
  // Marks this housekeeping task as just done; otherwise the gateway would process the transfer that the test plants. A time
  // more than the task's minute ahead would not count.
  const turn = 'undecided transfers'
  await sql`insert into housekeeping (task, ran_at) values (${turn}, now() + interval '50 seconds')
    on conflict (task) do update set ran_at = excluded.ran_at`
  accountId = (await createAccount(sql, 'customer@example.com')).accountId
})
afterAll(() => running.close())

async function commandLine() {
  const { sql, url } = running.database
  const foundation: Foundation = {
    config: environmentConfig({}),
    secrets: { service: 'svc', peppers: ANY_SECRETS, encryption: ANY_SECRETS },
    databaseUrl: url,
    databaseDirectUrl: null,
    sql,
    embedded: false,
    close: async () => {},
  }
  const command = readCommand(['audit'])
  if (command === null) throw new Error('not a command')
  const answer = await ACTIONS.audit!(foundation, command)
  return { ...answer, data: answer.data as Readonly<Record<string, unknown>> }
}

const ANY_SECRETS = parseSecretSet('KEY_PEPPERS', `1:${Buffer.alloc(32, 1).toString('base64')}`)

/** The audit's differences per rule, as the metrics report them; rules without differences are left out. */
async function metrics(): Promise<Readonly<Record<string, number>>> {
  const databaseMetrics = new DatabaseMetrics({
    url: running.database.url,
    report: () => {},
    everyMs: 0,
    auditEveryMs: 0,
  })
  await databaseMetrics.audit()
  const family = parseExposition(writeExposition(databaseMetrics.families())).get('gateway_audit_differences')
  await databaseMetrics.close()
  const found = (family?.samples ?? []).filter(({ value }) => value > 0)
  return Object.fromEntries(found.map(({ labels, value }) => [labels.rule, value]))
}

/** Runs a statement with triggers and checks disabled, because they would refuse it. */
async function plant(statement: string): Promise<void> {
  await running.database.sql.begin(async transaction => {
    await transaction.unsafe("set local session_replication_role = 'replica'")
    await transaction.unsafe(statement)
  })
}

test('without a planted difference the command line, the page and the metrics find nothing', async () => {
  const { text, failed } = await commandLine()
  expect([text.endsWith('No differences.'), failed]).toEqual([true, false])
  expect(await metrics()).toEqual({})
  expect(readable((await operator.post('/operator/audit')).html)).toContain('No differences.')
})

/** For each rule: a statement that breaks it, a statement that repairs it, and what the report must name besides the rule. */
const PLANTED: readonly (readonly [rule: string, plant: () => string, mend: () => string, named: () => string])[] = [
  [
    'balance',
    () => `update wallet set balance_micro_vnd = 5 where account_id = ${accountId}`,
    () => `update wallet set balance_micro_vnd = 0 where account_id = ${accountId}`,
    () => `First accounts: ${accountId}`,
  ],
  [
    'unbooked',
    () => `insert into bank_txn (provider, provider_ref, account_no, amount_vnd, direction, content, via, state, state_at, account_id)
           values ('sepay', 'x', '1', 50000, 1, '', 1, 1, now(), ${accountId})`,
    () => 'delete from bank_txn',
    () => 'First transfers: ',
  ],
  [
    'unfounded',
    () => `insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd)
           values (${accountId}, 1, 5, 1, 'bank_txn:999', 5)`,
    () => 'delete from credit',
    () => `First accounts: ${accountId}`,
  ],
  [
    'undecided',
    () => `insert into bank_txn (provider, provider_ref, account_no, amount_vnd, direction, content, via, received_at)
           values ('sepay', 'x', '1', 50000, 1, '', 1, now() - interval '1 hour')`,
    () => 'delete from bank_txn',
    () => 'First transfers: ',
  ],
  [
    'orders',
    () => `insert into topup_order (order_code, account_id, amount_vnd, expires_at, paid_vnd, first_paid_at)
           values ('ST7K3M9QXA2X', ${accountId}, 50000, now(), 60000, now())`,
    () => 'delete from topup_order',
    () => 'First orders: ST7K3M9QXA2X',
  ],
  [
    'credit_days',
    () => `insert into credit_daily values ('2026-11-20', 1, 1, 5)`,
    () => 'delete from credit_daily',
    () => 'First days of credits: 2026-11-20',
  ],
  [
    'usage_days',
    () => `insert into account_monthly values ('2026-10-01', 1, 1, 0, 1, 1, 0, 1, 1, 0, 0)`,
    () => 'delete from account_monthly',
    () => 'First days of calls: 2026-10-01',
  ],
  [
    'spool_lines',
    () => `insert into spool_set_aside (name, folder, lines, files) values ('host-1', '/data/spool/host-1', 3, 0)`,
    () => 'delete from spool_set_aside',
    () => 'First spools: /data/spool/host-1',
  ],
  [
    'spool_files',
    () => `insert into spool_set_aside (name, folder, lines, files) values ('host-2', '/data/spool/host-2', 0, 2)`,
    () => 'delete from spool_set_aside',
    () => 'First spools: /data/spool/host-2',
  ],
]

test.each(PLANTED)(
  'the command line, the page and the metrics report a difference of the rule %s',
  async (rule, statement, mend, named) => {
    await plant(statement())
    const { text, failed, data } = await commandLine()
    const page = readable((await operator.post('/operator/audit')).html)
    const found = await metrics()
    await plant(mend())
    expect(failed).toBe(true)
    expect(data.clean).toBe(false)
    expect(text).toMatch(new RegExp(`^ {2}${rule} +[1-9]`, 'm'))
    expect(text).toContain(named())
    expect(text).not.toMatch(/: *$/m)
    expect(Object.keys(found)).toContain(rule)
    expect(page).toContain('There are differences.')
    expect(page).toMatch(new RegExp(`${rule} ${found[rule]}\\b`))
  },
)
