/**
 * Notifications between the processes that share a database. They are only hints: a process that misses one finds out by polling.
 */

import type { AnySql } from '../lib/database.ts'

export const CHANNEL = 'gateway_operations'

/**
 * `maintenance`: maintenance was turned on or off. `keys`: cached keys are stale. `processes`: another process has begun to
 * serve. `upstreams`: an upstream was taken out of service or put back.
 */
export type News = 'maintenance' | 'keys' | 'processes' | 'upstreams'

export async function announce(sql: AnySql, news: News): Promise<void> {
  await sql.unsafe('select pg_notify($1, $2)', [CHANNEL, news])
}
