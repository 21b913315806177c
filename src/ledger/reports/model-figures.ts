/** How well entries have served all customers lately: how many calls succeeded, and how soon streams began. */

import type { AnySql } from '../../lib/database.ts'
import { percentile, sum } from './first-bytes.ts'

export interface ModelFigures {
  /**
   * Number of calls that were served or failed. Calls that failed because of the client's mistake or an empty wallet are left
   * out, as they say nothing about the model.
   */
  readonly calls: number
  /** The share of `calls` that were served, from 0 to 1. */
  readonly servedShare: number
  /** Median time to first byte over all streams, in ms, accurate to 5 %, and the number of streams; null if there were none. */
  readonly firstByte: { readonly medianMs: number; readonly calls: number } | null
}

/**
 * A call with status 429 counts as a failure only if the gateway tried an upstream. Otherwise, the call exceeded the key's own
 * rate limit.
 */
const CALLS = `select entry_id, (sum(calls) filter (where status < 400))::text as served,
    (sum(calls) filter (where status >= 500 or (status = 429 and upstream_id <> '')))::text as failed
  from call_hourly where hour >= date_trunc('hour', $1::text::timestamptz) group by 1`
const FIRST_BYTES = `select entry_id, first_byte_step, sum(calls)::text as calls from first_byte_hourly
  where hour >= date_trunc('hour', $1::text::timestamptz) group by 1, 2 order by 1, 2`

/** Returns figures by entry id, from the hour of `since` on. Reads hourly sums, so the time does not grow with the calls. */
export async function readModelFigures(sql: AnySql, since: Date): Promise<ReadonlyMap<string, ModelFigures>> {
  const from = [since.toISOString()]
  const [calls, firstBytes] = await Promise.all([sql.unsafe(CALLS, from), sql.unsafe(FIRST_BYTES, from)])
  const steps = Map.groupBy(firstBytes, row => String(row.entry_id))
  return new Map(
    calls.map(row => {
      const entryId = String(row.entry_id)
      const served = Number(row.served ?? 0)
      const counted = served + Number(row.failed ?? 0)
      const waited = (steps.get(entryId) ?? []).map(({ first_byte_step, calls: attempts }) => ({
        step: Number(first_byte_step),
        attempts: Number(attempts),
      }))
      const figures: ModelFigures = {
        calls: counted,
        servedShare: counted === 0 ? 0 : served / counted,
        firstByte: waited.length === 0 ? null : { medianMs: percentile(waited, 0.5), calls: sum(waited) },
      }
      return [entryId, figures]
    }),
  )
}
