/**
 * Compares three independent records: what the provider finished, what clients and the bank saw, and what the ledger wrote. Every
 * list of findings must be empty. docs/reliability.md numbers the promises that are checked here.
 */

import { TABLES } from '../../../src/generated/tables.ts'
import type { ModelEntry } from '../../../src/generated/types.ts'
import { type AuditReport, audit } from '../../../src/ledger/audit.ts'
import type { Sql } from '../../../src/lib/database.ts'
import { auditPayments } from '../../../src/payments/audit.ts'
import type { ClientCall } from './client.ts'
import type { Transfer } from './customers.ts'
import type { ProcessRun } from './gateways.ts'
import { findMissing, type Outage } from './missing.ts'
import type { Reply } from './oracle.ts'

export interface Witnesses {
  readonly sql: Sql
  readonly replies: readonly Reply[]
  readonly calls: readonly ClientCall[]
  readonly transfers: readonly (Transfer & { readonly acknowledged: boolean })[]
  /** The processes of each gateway, oldest first, by the gateway's name: every restart adds a process. */
  readonly runs: ReadonlyMap<string, readonly ProcessRun[]>
  /** Outages of Postgres. They excuse a killed gateway that had not read a reply yet, and a call that left no trace. */
  readonly databaseAway?: readonly Outage[]
  /** The prices in whole dong that each entry had in later catalogues. */
  readonly laterPricesVnd?: ReadonlyMap<string, readonly number[]>
  /** Journal rows as read while faults were still being injected, by call id. They must not change later. */
  readonly seen?: ReadonlyMap<string, string>
}

export interface Findings {
  /** Complete replies that the gateway or the client received, but that were not charged. */
  readonly lost: readonly string[]
  /** Replies or calls that were charged more than once. */
  readonly doubled: readonly string[]
  /** Charges that do not match the reply's amount, model or account, and rows that changed. */
  readonly wrong: readonly string[]
  /** Charges without a finished reply. */
  readonly unfounded: readonly string[]
  /** Calls with an id but no usage row, apart from a few that two simultaneous faults explain; see `traceless`. */
  readonly missing: readonly string[]
  /** 402 replies to calls during which the balance was never 0. */
  readonly refused: readonly string[]
  /** Transfers that were not credited exactly once with the right amount. */
  readonly credits: readonly string[]
  /** Open holds, negative balances, missing database constraints, and differences that the audits report. */
  readonly ledger: readonly string[]
}

export interface Verdict {
  readonly findings: Findings
  readonly clean: boolean
  readonly audit: AuditReport
  /** Number of replies that the provider finished. */
  readonly finished: number
  /** Number of the `finished` replies that were charged. */
  readonly charged: number
  /** Number of the `finished` replies without a charge because their gateway was killed before it received the end. */
  readonly unheard: number
  /** Longest time that a gateway kept running after the provider had finished one of the `unheard` replies, in ms. */
  readonly unheardMs: number
  /** Number of streams charged for more than `OUTGROWN_TOKENS`. */
  readonly outgrown: number
  /** Number of charged streams that were cut off because the wallet was empty. */
  readonly spent: number
  /** Number of calls that left no trace because of two simultaneous faults; see `missing.ts`. */
  readonly traceless: number
  /** Highest number of `traceless` calls that is tolerated. */
  readonly tracelessMax: number
}

/** Three times the default `holdExtendTokens`. A stream with more output tokens has outgrown its hold repeatedly. */
const OUTGROWN_TOKENS = 3 * 4_096
/** Even a busy gateway receives the end of a reply within this time. A gateway that is killed earlier may have missed the end. */
const HEARING_MS = 1_000
/** Used instead of `HEARING_MS` where the gateway may have to wait for Postgres before it reads the rest of a reply. */
const WAITING_MS = 15_000
/** Longest delay between the start of a transaction and its visibility to others. */
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
  /**
   * Whether the gateway counted the tokens itself. If not, `input` identifies the reply, because the test's provider reports
   * each reply's serial number as its input tokens.
   */
  readonly estimated: boolean
  readonly at: number
}

const USAGE = `select account_id, seq, call_id, entry_id, status, input_tokens::integer as input, output_tokens::integer as output,
  cost_micro_vnd as cost, charged_micro_vnd as charged, balance_after_micro_vnd as after, estimated,
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

/** Checks promises 4 and 6: finished replies are charged. */
function findLost({ replies, calls, runs, databaseAway = [] }: Witnesses, rows: readonly UsageRow[]) {
  const charges = new Set(rows.filter(row => row.cost !== '0' && !row.estimated).map(row => row.input))
  const guesses = guessesOf(calls, rows)
  const lost: string[] = []
  let [unheard, unheardMs, charged] = [0, 0, 0]
  for (const reply of replies) {
    if (reply.state !== 'finished') continue
    const finishedAt = reply.finishedAt as number
    const left = timeLeft(runs.get(reply.gateway) ?? [], finishedAt)
    const mayWait =
      reply.longEvents !== null || databaseAway.some(({ from, to }) => finishedAt < to && finishedAt + left > from)
    if (charges.has(reply.serial) || guesses.take(reply)) charged++
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
    if (row !== undefined && row.cost !== '0') continue
    const record = row === undefined ? 'no row' : `status ${row.status}, closed ${new Date(row.at).toISOString()}`
    lost.push(`call ${call.callId}, whose client has the whole reply ${call.serial}: ${record}`)
  }
  return { lost, unheard, unheardMs, charged }
}

/**
 * Collects the charges for tokens that the gateway counted itself, because the client left or the wallet was empty before the
 * provider reported usage.
 * Such a charge does not identify its reply, so `take` looks for any with the reply's account, model and time. It returns
 * whether it found one, and uses each charge only once.
 */
function guessesOf(calls: readonly ClientCall[], rows: readonly UsageRow[]) {
  const left = new Set(calls.filter(call => call.left).map(call => call.callId))
  const isEarly = (row: UsageRow): boolean => left.has(row.call_id) || row.status === 402
  const guesses = new Set(rows.filter(row => row.cost !== '0' && row.estimated && isEarly(row)))
  return {
    take({ accountId, entryId, finishedAt }: Reply): boolean {
      const found = [...guesses].find(
        row =>
          Number(row.account_id) === accountId &&
          row.entry_id === entryId &&
          Math.abs(row.at - (finishedAt as number)) < COMMIT_MS,
      )
      return found !== undefined && guesses.delete(found)
    },
  }
}

/** Time from when the provider finished a reply until the gateway was last seen working before it was killed, in ms. */
function timeLeft(runs: readonly ProcessRun[], finishedAt: number): number {
  // If no gateway of this name was alive when the reply ended, nobody read it.
  const wasRunning = ({ startedAt, endedAt }: ProcessRun) =>
    startedAt <= finishedAt && finishedAt <= (endedAt ?? Infinity)
  if (runs.length > 0 && !runs.some(wasRunning)) return 0
  const kills = runs.filter(({ wanted, endedAt }) => wanted && endedAt !== null && endedAt >= finishedAt - 50)
  const working = kills.map(({ answeredFrom, killedAt, endedAt }) => answeredFrom ?? killedAt ?? (endedAt as number))
  return Math.max(0, Math.min(...working.map(until => until - finishedAt)))
}

/** Checks promises 6 and 10: one row per call, one charge per reply. */
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

/** Acceptable costs for a row: at the price in the current catalogue, and at each later price. */
function costsOf(row: UsageRow, { laterPricesVnd }: Witnesses): bigint[] {
  const { price } = ENTRIES.get(row.entry_id) as ModelEntry
  const units = price.per === 'mtok' ? BigInt(row.input + row.output) : 1_000_000n
  return [price.vnd, ...(laterPricesVnd?.get(row.entry_id) ?? [])].map(vnd => BigInt(vnd) * units)
}

/** Checks promises 4, 6 and 8: amount, account and model are exact, the client was told the same cost, and no row has changed. */
function findWrong(witnesses: Witnesses, rows: readonly UsageRow[]): string[] {
  const { replies, calls, seen } = witnesses
  const bySerial = new Map(replies.map(reply => [reply.serial, reply]))
  const byCall = new Map(rows.map(row => [row.call_id, row]))
  const wrong: string[] = []
  for (const row of rows) {
    const name = `call ${row.call_id}`
    if (row.charged !== row.cost && row.after !== '0') wrong.push(`${name}: uncollected at a balance of ${row.after}`)
    if (row.cost === '0') continue
    const costs = costsOf(row, witnesses)
    if (!costs.includes(BigInt(row.cost))) wrong.push(`${name}: cost ${row.cost}, not ${costs.join(' or ')}`)
    const reply = row.estimated ? undefined : bySerial.get(row.input)
    if (reply === undefined) continue
    if (row.entry_id !== reply.entryId || Number(row.account_id) !== reply.accountId)
      wrong.push(`${name}, ${row.status}: of another account or model than reply ${reply.serial}`)
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

/** Checks promise 5: a client that left a stream, or whose wallet ran empty, pays for what was sent to it. */
function findUnfounded({ replies, calls }: Witnesses, rows: readonly UsageRow[]): string[] {
  // A stream that empties its wallet is cut, however short it is, and what was sent is charged.
  const isCut = (row: UsageRow): boolean =>
    row.status === 402 &&
    replies.some(
      ({ serial, accountId, entryId }) =>
        accountId === Number(row.account_id) && entryId === row.entry_id && (row.estimated || serial === row.input),
    )
  const partly = (row: UsageRow): boolean => (row.status === 499 && left.has(row.call_id)) || isCut(row)
  const finished = new Set(replies.filter(reply => reply.state === 'finished').map(reply => reply.serial))
  const left = new Set(calls.filter(call => call.left).map(call => call.callId))
  return rows
    .filter(row => row.cost !== '0' && !finished.has(row.input) && !partly(row))
    .map(({ call_id, input, status, estimated, output }) => {
      const reply = replies.find(({ serial }) => serial === input)
      const how = `status ${status}${estimated ? ', estimated' : ''}, ${output} of ${reply?.outputTokens} tokens`
      return `call ${call_id} is charged for reply ${input}, which is ${reply?.state} (${how})`
    })
}

interface CreditRow {
  readonly account_id: string
  readonly seq: string
  readonly amount: string
  readonly after: string
  readonly at: number
  readonly reference: string | null
}

/** Checks promise 7: during every call that got a 402, the balance was 0 at some moment. */
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

/**
 * Checks promise 4 for transfers. A transfer that no gateway acknowledged may lack its credit, but none may be credited twice.
 */
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

/** Checks promises 1, 2, 3 and 9: the audits find nothing, no hold is left, and no balance can be negative. */
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

/**
 * Adds to `seen` the journal rows of the `count` calls that ended most recently, so that the checker can tell whether they
 * change.
 */
export async function lookAtJournal(sql: Sql, seen: Map<string, string>, count: number): Promise<void> {
  const rows = (await sql.unsafe(`${USAGE} order by closed_at desc limit ${count}`)) as unknown as UsageRow[]
  for (const row of rows) if (!seen.has(row.call_id)) seen.set(row.call_id, JSON.stringify(row))
}
