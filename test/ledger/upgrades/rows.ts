/** Dumps a database's rows as SQL, and loads them into another. The dump has no schema, because migrations recreate it. */

import type { Sql } from '../../../src/lib/database.ts'

const TABLES = `select c.relname as name, array_agg(a.attname order by a.attnum)::text as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
   and a.attgenerated = ''
 group by 1 order by 1`
const IDENTITIES = `select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace = current_schema()::regnamespace and a.attidentity <> '' order by 1`

/** Returns one insert statement per line. */
export async function dumpRows(sql: Sql): Promise<string> {
  let text = ''
  for (const { name, columns } of await sql.unsafe(TABLES)) {
    const names = String(columns).slice(1, -1).split(',')
    const values = names.map(column => `quote_nullable(${column}::text)`).join(" || ', ' || ")
    for (const row of await sql.unsafe(`select ${values} as values from "${name}" order by ctid`)) {
      text += `insert into "${name}" (${names.join(', ')}) overriding system value values (${row.values});\n`
    }
  }
  for (const { table, column } of await sql.unsafe(IDENTITIES)) {
    text += `select setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 0) + 1) from "${table}";\n`
  }
  return text
}

/** Loads rows into a database migrated to the same version, replacing the rows that the migrations made. */
export async function loadRows(sql: Sql, text: string): Promise<void> {
  const tables = await sql.unsafe(TABLES)
  await sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    for (const { name } of tables) await transaction.unsafe(`delete from "${name}"`)
    await transaction.unsafe(text)
  })
}
