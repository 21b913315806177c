import { readdirSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { migrate } from '../../src/ledger/migrate.ts'
import { dumpSchema } from '../support/dump-schema.ts'
import { createTestDatabase } from '../support/postgres.ts'

const MIGRATIONS = readdirSync(new URL('../../src/ledger/migrations/', import.meta.url)).sort()

const database = await createTestDatabase({ migrated: false })
afterAll(() => database.drop())

test('migrates once when several processes start at once, and finds nothing to do afterwards', async () => {
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(database.sql)))
  expect(applied.flat().sort()).toEqual(MIGRATIONS)
  expect(await migrate(database.sql)).toEqual([])
})

test('test/schema.sql is the schema that the migrations create', async () => {
  await expect(await dumpSchema(database.sql)).toMatchFileSnapshot('../schema.sql')
})

test('a migration that a long transaction blocks gives up instead of making calls wait, and succeeds the next time', async () => {
  const busy = await createTestDatabase({ migrated: true })
  try {
    await busy.sql.unsafe('delete from migration where number = 4')
    await busy.sql.unsafe('drop index usage_daily_day')
    const reader = await busy.sql.reserve()
    await reader.unsafe('begin')
    await reader.unsafe('lock table usage_daily in share row exclusive mode')
    const impatient = { lockTimeoutMs: 50, pauseMs: 50, triesMax: 2 }
    await expect(migrate(busy.sql, impatient)).rejects.toThrow(
      /^migration 0004-report-indexes.sql gave up waiting for a long transaction/,
    )
    await reader.unsafe('commit')
    reader.release()
    expect(await migrate(busy.sql)).toEqual(['0004-report-indexes.sql'])
  } finally {
    await busy.drop()
  }
})

test('refuses a migration that was edited after it was applied', async () => {
  await database.sql.unsafe(`update migration set digest = 'other' where number = 1`)
  await expect(migrate(database.sql)).rejects.toThrow(/0001-ledger.sql was edited after it was applied/)
})
