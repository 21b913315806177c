/** Fills tables without their indexes and rebuilds the indexes afterwards, which is several times faster. */

import type { Sql } from '../../src/lib/database.ts'

/** Session settings for large fills. */
export const SESSION = `set work_mem = '1GB'; set maintenance_work_mem = '1GB'; set synchronous_commit = off`

const INDEXES = `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition,
    c.conname as constraint, pg_get_constraintdef(c.oid) as constraint_definition
  from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
 where i.indrelid = $1::text::regclass`

/** Drops a table's indexes, runs `fill` and rebuilds the indexes. Fails if the rows violate a unique index. */
export async function withoutIndexes(sql: Sql, table: string, fill: () => Promise<unknown>): Promise<void> {
  const indexes = await sql.unsafe(INDEXES, [table])
  for (const { name, constraint } of indexes) {
    await sql.unsafe(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${constraint}`)
  }
  await fill()
  for (const { definition, constraint, constraint_definition: made } of indexes) {
    await sql.unsafe(constraint === null ? definition : `alter table ${table} add constraint ${constraint} ${made}`)
  }
}
