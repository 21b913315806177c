/** News between the processes of one database. They are hints: whoever misses one finds out by asking. */

import type { AnySql } from '../lib/database.ts'

export const CHANNEL = 'gateway_operations'

/** maintenance: it was turned on or off. keys: what was remembered of keys is out of date. processes: one more serves. */
export type News = 'maintenance' | 'keys' | 'processes'

export async function announce(sql: AnySql, news: News): Promise<void> {
  await sql.unsafe('select pg_notify($1, $2)', [CHANNEL, news])
}
