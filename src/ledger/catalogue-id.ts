/** Finds or assigns the number by which usage rows refer to the catalogue that admitted their calls. */

import type { StatementPool } from '../lib/database.ts'

// Look the number up first: an insert that hits a conflict would use up a number at every start.
const FIND = 'select catalogue_id from catalogue where digest = $1'
const ADD = `insert into catalogue (digest) values ($1) on conflict (digest) do update set digest = excluded.digest
  returning catalogue_id`

export async function catalogueId(pool: StatementPool, digest: string): Promise<number> {
  const known = await pool.query<{ catalogue_id: number }>(FIND, [digest])
  const rows = known.length > 0 ? known : await pool.query<{ catalogue_id: number }>(ADD, [digest])
  return rows[0]!.catalogue_id
}
