import { afterAll, expect, test } from 'vitest'
import { classifyFault, openDatabase, openStatementPool } from '../../src/lib/database.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase({ migrated: false })
afterAll(() => database.drop())

test.each([
  ['08006', 'retry'],
  ['57P01', 'retry'],
  ['57014', 'retry'],
  ['53100', 'retry'],
  ['40P01', 'retry'],
  ['25006', 'retry'],
  ['CONNECTION_CLOSED', 'retry'],
  ['ECONNREFUSED', 'retry'],
  ['23505', 'conflict'],
  ['22003', 'bug'],
  ['23514', 'bug'],
  ['42P01', 'bug'],
  ['', 'bug'],
])('judges %s as %s', (code, kind) => {
  expect(classifyFault(Object.assign(new Error(), { code }))).toBe(kind)
})

test('each kind of connection has the durability that it was opened with', async () => {
  for (const synchronousCommit of ['on', 'off'] as const) {
    const sql = openDatabase({
      url: database.url,
      name: 'settings',
      connectionsMax: 1,
      synchronousCommit,
      statementTimeoutMs: 1_234,
    })
    const rows = await sql.unsafe(
      `select current_setting('synchronous_commit') as a, current_setting('statement_timeout') as b`,
    )
    expect(rows).toEqual([{ a: synchronousCommit, b: '1234ms' }])
    await sql.end()
  }
})

test('a statement that is not answered in time fails, and the next one gets a fresh connection', async () => {
  const pool = openStatementPool({ url: database.url, name: 'deadline', connectionsMax: 1, deadlineMs: 100 })
  await expect(pool.query('select pg_sleep(5)', [])).rejects.toMatchObject({ code: 'STATEMENT_DEADLINE' })
  expect(await pool.query('select 1 as one', [])).toEqual([{ one: 1 }])
  await pool.close()
})
