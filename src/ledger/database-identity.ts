/** The database's identity: a failover, a standby and a restored backup keep it, another database has its own. */

import type { StatementPool } from '../lib/database.ts'

/** Requires a migrated database. */
export async function readDatabaseId(pool: StatementPool): Promise<string> {
  const rows = await pool.query<{ database_id: string }>('select database_id from database_identity', [])
  return rows[0]!.database_id
}
