/** A database of its own for each test file, migrated. */

import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'

export interface TestDatabase {
  readonly url: string
  readonly sql: Sql
  drop(): Promise<void>
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const clusterUrl = inject('clusterUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  const cluster = openDatabase({ url: clusterUrl, name: 'test cluster', connectionsMax: 1 })
  await cluster.unsafe(`create database ${name}`)
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  const sql = openDatabase({ url: url.href, name: 'test', connectionsMax: 4 })
  await migrate(sql)
  return {
    url: url.href,
    sql,
    async drop() {
      await sql.end({ timeout: 5 })
      await cluster.unsafe(`drop database if exists ${name} with (force)`)
      await cluster.end({ timeout: 5 })
    },
  }
}
