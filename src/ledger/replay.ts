/**
 * Sends a spool's settlements to the ledger again. Lines with a valid checksum are trusted. Lines written by versions without
 * checksums may be damaged and still parse, so each of them needs a matching hold or usage row as proof.
 */

import { plainArray, type StatementPool, textArray } from '../lib/database.ts'
import type { Settling } from './settling.ts'
import type { Spool } from './spool.ts'
import type { SpooledSettlement } from './spool-reader.ts'
import { PRICE_PER_CODES, type Settlement } from './types.ts'

const PROVEN = `
select found.call_id
  from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::smallint[], $6::bigint[], $7::smallint[])
         as line(account_id, call_id, key_id, entry_id, endpoint, price_vnd, price_per)
 cross join lateral (
   (select h.call_id from hold h
     where h.account_id = line.account_id and h.call_id = line.call_id and h.key_id = line.key_id
       and h.entry_id = line.entry_id and h.endpoint = line.endpoint
       and (h.price_vnd is null or line.price_vnd = 0 or (h.price_vnd = line.price_vnd and h.price_per = line.price_per))
     limit 1)
   union all
   (select u.call_id from usage u where u.call_id = line.call_id and u.account_id = line.account_id limit 1)
   limit 1) found`

const BATCH_MAX = 500

export interface Replay {
  readonly spool: Spool
  readonly pool: StatementPool
  readonly settling: Settling
}

/** Resolves with the number of settlements sent, once all of them are durable. */
export async function replay(
  spooled: readonly SpooledSettlement[],
  { spool, pool, settling }: Replay,
): Promise<number> {
  const unproven = spooled.filter(line => line.unproven !== null)
  const proven = new Set<string>()
  for (let from = 0; from < unproven.length; from += BATCH_MAX) {
    const batch = unproven.slice(from, from + BATCH_MAX).map(({ settlement }) => settlement)
    for (const callId of await findProven(pool, batch)) proven.add(callId)
  }
  const sent: Settlement[] = []
  for (const line of spooled) {
    if (line.unproven === null || proven.has(line.settlement.callId)) sent.push(line.settlement)
    else spool.giveUp(line)
  }
  await settling.resend(sent)
  return sent.length
}

async function findProven(pool: StatementPool, batch: readonly Settlement[]): Promise<readonly string[]> {
  const rows = await pool.query<{ call_id: string }>(PROVEN, [
    plainArray(batch.map(call => call.accountId)),
    plainArray(batch.map(call => call.callId)),
    plainArray(batch.map(call => call.keyId)),
    textArray(batch.map(call => call.entryId)),
    plainArray(batch.map(call => call.endpoint)),
    plainArray(batch.map(call => call.priceVnd)),
    plainArray(batch.map(call => PRICE_PER_CODES[call.pricePer])),
  ])
  return rows.map(row => row.call_id)
}
