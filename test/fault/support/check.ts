/**
 * Compares three memories that know nothing of each other: what the provider finished, what clients and the bank saw,
 * and what the ledger wrote. Every list of findings must be empty.
 */

import { TABLES } from '../../../src/generated/tables.ts'
import type { ModelEntry } from '../../../src/generated/types.ts'
import { type AuditReport, audit } from '../../../src/ledger/audit.ts'
import type { Sql } from '../../../src/lib/database.ts'
import { auditPayments } from '../../../src/payments/audit.ts'
import type { ClientCall } from './client.ts'
import type { Transfer } from './customers.ts'
import type { Life } from './gateways.ts'
import { findMissing, type Outage } from './missing.ts'
import type { Reply } from './oracle.ts'

export interface Witnesses {
  readonly sql: Sql
  readonly replies: readonly Reply[]
  readonly calls: readonly ClientCall[]
  readonly transfers: readonly (Transfer & { readonly acknowledged: boolean })[]
  /** By name of the gateway. */
  readonly lives: ReadonlyMap<string, readonly Life[]>
  /** Streams may wait for Postgres then, and a kill finds them waiting. */
  readonly databaseAway?: readonly Outage[]
  /** Journal rows as they were read during the storm, by call id. */
  readonly seen?: ReadonlyMap<string, string>
}

export interface Findings {
  /** Replies that were finished, and heard by their gateway, without a charge; and charges that a client saw and that are gone. */
  readonly lost: readonly string[]
  /** Replies or calls that are charged more than once. */
  readonly doubled: readonly string[]
  /** Charges with another amount, model or account than those of the reply, or rows that changed. */
  readonly wrong: readonly string[]
  /** Charges without a finished reply. */
  readonly unfounded: readonly string[]
  /** Calls with an id whose usage row is missing for another reason than two faults at once, or more of those than may be. */
  readonly missing: readonly string[]
  /** Answers 402 while the balance was above 0 all the time. */
  readonly refused: readonly string[]
  /** Transfers that are credited not at all, more than once, or with another amount. */
  readonly credits: readonly string[]
  /** Differences of the ledger's and the bank's audit, open holds, broken rules. */
  readonly ledger: readonly string[]
}

export interface Verdict {
  readonly findings: Findings
  readonly clean: boolean
  readonly audit: AuditReport
  /** Finished replies; of them charged; of them given up because the gateway was killed before it heard the end. */
  readonly finished: number
  readonly charged: number
  readonly unheard: number
  /** The longest time that the gateway of such a reply was seen to work after its end, ms. */
  readonly unheardMs: number
  /** Streams that were charged for more than three steps of their hold; streams that ended because their wallet was spent. */
  readonly outgrown: number
  readonly spent: number
  /** Calls without a row whose every trace two faults took, and how many of them may be; see `missing.ts`. */
  readonly traceless: number
  readonly tracelessMax: number
}

/** Output tokens of three steps. */
const OUTGROWN_TOKENS = 3 * 4_096
/** Time in which a gateway that is busy hears the end of a reply; one that was killed within it may not have heard it. */
const HEARING_MS = 1_000
/** The same where a stream has outgrown its hold: its gateway may wait for Postgres while the provider has written all. */
const WAITING_MS = 15_000
/** Between the moment that a transaction counts as begun and the one in which others see it. */
const COMMIT_MS = 5_000

interface UsageRow {
  readonly account_id: string
  readonly seq: string
  readonly call_id: string
  readonly entry_id: string
  readonly status: number
  readonly input: number
  readonly output: number
  readonly cost: string
  readonly charged: string
  readonly after: string
  readonly at: number
}

const USAGE = `select account_id, seq, call_id, entry_id, status, input_tokens::integer as input, output_tokens::integer as output,
  cost_micro_vnd as cost, charged_micro_vnd as charged, balance_after_micro_vnd as after,
  (extract(epoch from closed_at) * 1000)::double precision as at from usage`
const CREDITS = `select c.account_id, c.seq, c.amount_micro_vnd as amount, c.balance_after_micro_vnd as after,
  (extract(epoch from c.at) * 1000)::double precision as at, b.provider_ref as reference
  from credit c left join bank_txn b on c.kind = 1 and c.reference = 'bank_txn:' || b.bank_txn_id`

const ENTRIES = new Map((TABLES.entries as readonly ModelEntry[]).map(entry => [entry.id, entry]))

export async function judge(witnesses: Witnesses): Promise<Verdict> {
  const { sql } = witnesses
  const rows = (await sql.unsafe(USAGE)) as unknown as UsageRow[]
  const credits = (await sql.unsafe(CREDITS)) as unknown as CreditRow[]
  const report = await audit(sql)
  const { lost, unheard, unheardMs, charged } = findLost(witnesses, rows)
  const { missing, traceless, tracelessMax } = findMissing(witnesses, new Set(rows.map(row => row.call_id)))
  const findings: Findings = {
    lost,
    doubled: findDoubled(rows),
    wrong: findWrong(witnesses, rows),
    unfounded: findUnfounded(witnesses, rows),
    missing,
    refused: findRefused(witnesses, rows, credits),
    credits: findCreditFaults(witnesses, credits),
    ledger: await findLedgerFaults(sql, report, rows),
  }
  const clean = Object.values(findings).every(list => list.length === 0)
  const finished = witnesses.replies.filter(reply => reply.state === 'finished').length
  const outgrown = rows.filter(row => row.cost !== '0' && row.output > OUTGROWN_TOKENS).length
  const spent = rows.filter(row => row.cost !== '0' && row.status === 402).length
  const counts = { finished, charged, unheard, unheardMs, outgrown, spent, traceless, tracelessMax }
  return { findings, clean, audit: report, ...counts }
}

/** I4 and I6. */
function findLost({ replies, calls, lives, databaseAway = [] }: Witnesses, rows: readonly UsageRow[]) {
  const charges = new Set(rows.filter(row => row.cost !== '0').map(row => row.input))
  const lost: string[] = []
  let [unheard, unheardMs, charged] = [0, 0, 0]
  for (const reply of replies) {
    if (reply.state !== 'finished') continue
    const finishedAt = reply.finishedAt as number
    const left = timeLeft(lives.get(reply.gateway) ?? [], finishedAt)
    const mayWait =
      reply.longEvents !== null || databaseAway.some(({ from, to }) => finishedAt < to && finishedAt + left > from)
    if (charges.has(reply.serial)) charged++
    else if (left < (mayWait ? WAITING_MS : HEARING_MS)) {
      unheard++
      unheardMs = Math.max(unheardMs, left)
    } else {
      const kind = reply.longEvents === null ? 'short' : 'long'
      lost.push(`${kind} reply ${reply.serial} of ${reply.gateway}, ${left} ms before its gateway last worked`)
    }
  }
  const byCall = Map.groupBy(rows, row => row.call_id)
  for (const call of calls) {
    if (!call.complete) continue
    const [row] = byCall.get(call.callId ?? '') ?? []
    if (row === undefined || row.cost === '0') lost.push(`call ${call.callId}, whose client has the whole reply`)
  }
  return { lost, unheard, unheardMs, charged }
}

/** How long after the end of a reply its gateway was seen to work before it was killed, ms. */
function timeLeft(lives: readonly Life[], finishedAt: number): number {
  const kills = lives.filter(({ wanted, endedAt }) => wanted && endedAt !== null && endedAt >= finishedAt - 50)
  const working = kills.map(({ answeredFrom, killedAt, endedAt }) => answeredFrom ?? killedAt ?? (endedAt as number))
  return Math.max(0, Math.min(...working.map(until => until - finishedAt)))
}

/** I6 and I10: one row for each call, one charge for each reply. */
function findDoubled(rows: readonly UsageRow[]): string[] {
  const calls = [...Map.groupBy(rows, row => row.call_id)].filter(([, same]) => same.length > 1)
  const charges = Map.groupBy(
    rows.filter(row => row.cost !== '0' && row.status === 200),
    row => row.input,
  )
  const replies = [...charges].filter(([, same]) => same.length > 1)
  return [
    ...calls.map(([id, same]) => `call ${id} has ${same.length} rows`),
    ...replies.map(([serial, same]) => `reply ${serial} is charged ${same.length} times`),
  ]
}

function priceOf(row: UsageRow): bigint {
  const { price } = ENTRIES.get(row.entry_id) as ModelEntry
  const vnd = BigInt(price.vnd)
  return price.per === 'mtok' ? vnd * BigInt(row.input + row.output) : vnd * 1_000_000n
}

/** I4, I6 and I8: the amount to the micro-dong, the account, the model, what the client was told, what was read before. */
function findWrong({ replies, calls, seen }: Witnesses, rows: readonly UsageRow[]): string[] {
  const bySerial = new Map(replies.map(reply => [reply.serial, reply]))
  const byCall = new Map(rows.map(row => [row.call_id, row]))
  const wrong: string[] = []
  for (const row of rows) {
    const name = `call ${row.call_id}`
    if (row.charged !== row.cost && row.after !== '0') wrong.push(`${name}: uncollected at a balance of ${row.after}`)
    if (row.cost === '0') continue
    if (BigInt(row.cost) !== priceOf(row)) wrong.push(`${name}: cost ${row.cost}, not ${priceOf(row)}`)
    const reply = bySerial.get(row.input)
    if (reply === undefined) continue
    if (row.entry_id !== reply.entryId || Number(row.account_id) !== reply.accountId)
      wrong.push(`${name}: of another account or model than reply ${reply.serial}`)
    if (row.status === 200 && row.output !== reply.outputTokens) wrong.push(`${name}: ${row.output} output tokens`)
  }
  for (const call of calls) {
    const row = byCall.get(call.callId ?? '')
    if (row === undefined || !call.complete) continue
    if (call.serial !== row.input) wrong.push(`call ${call.callId}: charged for reply ${row.input}, not ${call.serial}`)
    if (call.costMicroVnd !== null && call.costMicroVnd !== BigInt(row.cost))
      wrong.push(`call ${call.callId}: the client was told ${call.costMicroVnd}, not ${row.cost}`)
  }
  for (const [id, text] of seen ?? []) {
    const row = byCall.get(id)
    if (row === undefined || JSON.stringify(row) !== text) wrong.push(`call ${id}: its row is gone or has changed`)
  }
  return wrong
}

/** I5. A client that left a stream, or whose wallet was spent, pays for what it was sent. */
function findUnfounded({ replies, calls }: Witnesses, rows: readonly UsageRow[]): string[] {
  const long = new Set(replies.filter(reply => reply.longEvents !== null).map(reply => reply.serial))
  const partly = (row: UsageRow): boolean =>
    (row.status === 499 && left.has(row.call_id)) || (row.status === 402 && long.has(row.input))
  const finished = new Set(replies.filter(reply => reply.state === 'finished').map(reply => reply.serial))
  const left = new Set(calls.filter(call => call.left).map(call => call.callId))
  return rows
    .filter(row => row.cost !== '0' && !finished.has(row.input) && !partly(row))
    .map(row => `call ${row.call_id} is charged for reply ${row.input}`)
}

interface CreditRow {
  readonly account_id: string
  readonly seq: string
  readonly amount: string
  readonly after: string
  readonly at: number
  readonly reference: string | null
}

/** I7: at some moment of the call the balance was 0. */
function findRefused({ calls }: Witnesses, rows: readonly UsageRow[], credits: readonly CreditRow[]): string[] {
  const journal = Map.groupBy([...rows, ...credits], row => Number(row.account_id))
  for (const entries of journal.values()) entries.sort((left, right) => Number(left.seq) - Number(right.seq))
  const refused = calls.filter(call => call.status === 402)
  const wrong = refused.filter(call => {
    const entries = journal.get(call.accountId) ?? []
    const after = entries.findIndex(entry => entry.at >= call.startedAt - COMMIT_MS)
    const during = entries.slice(Math.max(0, (after < 0 ? entries.length : after) - 1))
    return entries.length > 0 && !during.some(entry => entry.after === '0' && entry.at <= call.endedAt)
  })
  return wrong.map(call => `call ${call.callId} of account ${call.accountId}`)
}

/** I4 for credits. One that was never acknowledged may be missing, but is never there twice. */
function findCreditFaults({ transfers }: Witnesses, credits: readonly CreditRow[]): string[] {
  const byReference = Map.groupBy(credits, row => row.reference)
  return transfers.flatMap(({ reference, accountId, amountVnd, acknowledged }) => {
    const booked = byReference.get(reference) ?? []
    const good = booked.every(
      row => Number(row.account_id) === accountId && BigInt(row.amount) === BigInt(amountVnd) * 1_000_000n,
    )
    if (good && booked.length <= 1 && booked.length >= (acknowledged ? 1 : 0)) return []
    return [`transfer ${reference}: ${booked.length} credits, acknowledged: ${acknowledged}`]
  })
}

/** I1, I2, I3 and I9. */
async function findLedgerFaults(sql: Sql, report: AuditReport, rows: readonly UsageRow[]): Promise<string[]> {
  const payments = await auditPayments(sql)
  const differences = Object.entries({ ...report.differences, ...payments.differences })
  const below = rows.filter(row => BigInt(row.after) < 0n)
  const [{ n } = { n: 0 }] = await sql.unsafe(
    `select count(*)::integer as n from pg_constraint where conrelid = 'wallet'::regclass and contype = 'c' and convalidated
      and pg_get_constraintdef(oid) ~ '(balance|held)_micro_vnd >= 0'`,
  )
  return [
    ...differences.filter(([, count]) => count !== 0).map(([name, count]) => `audit: ${name} ${count}`),
    ...(report.openHolds === 0 ? [] : [`${report.openHolds} open holds`]),
    ...below.map(row => `call ${row.call_id}: balance ${row.after}`),
    ...(n === 2 ? [] : ['the wallet may fall below 0']),
  ]
}

/** Rows as the checker reads them, of the last calls that ended; for `seen`. */
export async function lookAtJournal(sql: Sql, seen: Map<string, string>, count: number): Promise<void> {
  const rows = (await sql.unsafe(`${USAGE} order by closed_at desc limit ${count}`)) as unknown as UsageRow[]
  for (const row of rows) if (!seen.has(row.call_id)) seen.set(row.call_id, JSON.stringify(row))
}
