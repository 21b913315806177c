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
  expect(applied.filter(names => names.length > 0)).toEqual([MIGRATIONS])
  expect(await migrate(database.sql)).toEqual([])
})

test('test/schema.sql is the schema that the migrations make', async () => {
  await expect(await dumpSchema(database.sql)).toMatchFileSnapshot('../schema.sql')
})

test('refuses a migration that was edited after it was applied', async () => {
  await database.sql.unsafe(`update migration set digest = 'other' where number = 1`)
  await expect(migrate(database.sql)).rejects.toThrow(/0001-ledger.sql was edited after it was applied/)
})
