/**
 * Compares what clients saw with the ledger: every complete reply must be charged at the cost that the client was told, the
 * audits must find nothing, and no version of the catalogue may have two prices for a model.
 */

import { audit } from '../../src/ledger/audit.ts'
import type { Sql } from '../../src/lib/database.ts'
import { auditPayments } from '../../src/payments/audit.ts'
import type { Disturbance } from './events.ts'
import type { SoakCall } from './load.ts'

export interface Books {
  readonly calls: readonly SoakCall[]
  readonly disturbances: readonly Disturbance[]
  readonly acknowledgedVnd: number
}

/** Every list must be empty. */
export interface BookFindings {
  /** Calls with a complete reply that were not charged. */
  readonly lost: readonly string[]
  /** Calls whose charge differs from the cost that the client was told, and catalogue versions under which a model had several prices. */
  readonly wrong: readonly string[]
  /** Differences that the audits find, open holds, and missing transfers. */
  readonly audit: readonly string[]
  /** Calls that failed although the soak was not disturbing their provider, gateway or database. */
  readonly failed: readonly string[]
}

interface Row {
  readonly call_id: string
  readonly status: number
  readonly cost: string
}

/** Finds versions of the catalogue under which calls of an entry had more than one price. */
export const PRICES = `select c.digest, count(distinct u.price_vnd)::integer as prices from usage u join catalogue c using (catalogue_id)
  where u.entry_id = $1 group by 1 having count(distinct u.price_vnd) > 1`

export async function checkBooks(sql: Sql, repriced: string, books: Books): Promise<BookFindings> {
  const rows = (await sql.unsafe(
    'select call_id, status, cost_micro_vnd as cost from usage',
  )) as unknown as readonly Row[]
  const byCall = new Map(rows.map(row => [row.call_id, row]))
  const whole = books.calls.filter(call => call.complete)
  const lost = whole.filter(({ callId }) => (byCall.get(callId ?? '')?.cost ?? '0') === '0')
  const wrong = whole.filter(({ callId, costMicroVnd }) => {
    const row = byCall.get(callId ?? '')
    return row !== undefined && costMicroVnd !== null && costMicroVnd !== BigInt(row.cost)
  })
  const mixed = await sql.unsafe(PRICES, [repriced])
  return {
    lost: lost.map(describe),
    wrong: [...wrong.map(describe), ...mixed.map(({ digest, prices }) => `catalogue ${digest} has ${prices} prices`)],
    audit: await auditFaults(sql, books),
    failed: books.calls.filter(call => !call.complete && !isExcused(call, books.disturbances)).map(describe),
  }
}

async function auditFaults(sql: Sql, { acknowledgedVnd }: Books): Promise<string[]> {
  const report = await audit(sql)
  const payments = await auditPayments(sql)
  const differences = Object.entries({ ...report.differences, ...payments.differences })
  const [credited] = await sql.unsafe(
    `select coalesce(sum(amount_micro_vnd), 0)::double precision / 1e6 as vnd from credit where kind = 1`,
  )
  return [
    ...differences.filter(([, count]) => count !== 0).map(([name, count]) => `${name}: ${count}`),
    ...(report.openHolds === 0 ? [] : [`${report.openHolds} open holds`]),
    ...(credited?.vnd >= acknowledgedVnd ? [] : [`${credited?.vnd} VND credited of ${acknowledgedVnd} acknowledged`]),
  ]
}

/** Whether a call was allowed to fail: the provider was asked to fail or was cooling down, or the soak disturbed the gateway. */
function isExcused(call: SoakCall, disturbances: readonly Disturbance[]): boolean {
  return (
    call.asked !== null ||
    call.fault?.startsWith('upstream_') === true ||
    disturbances.some(
      ({ gateway, from, to }) =>
        (gateway === null || gateway === call.gateway) && call.startedAt <= to && call.endedAt >= from,
    )
  )
}

function describe({ callId, gateway, status, fault, startedAt, endedAt }: SoakCall): string {
  const at = new Date(startedAt).toISOString().slice(11, 19)
  return `call ${callId} at ${at} through ${gateway}: status ${status}, ${fault} after ${endedAt - startedAt} ms`
}
