/** The ledger of one process: combines connections, registration, spool, admission and settling. */

import { openStatementPool, type StatementPool } from '../lib/database.ts'
import type { FileLock } from '../lib/file-lock.ts'
import { takeTurn } from '../lib/lease.ts'
import type { MicroVnd } from '../lib/money.ts'
import { TransientMap } from '../lib/transient.ts'
import { Admission } from './admission.ts'
import { adoptSpools, spoolFolder } from './adopt.ts'
import { catalogueId } from './catalogue-id.ts'
import { every } from './every.ts'
import { Extending } from './extending.ts'
import {
  beat,
  DifferentDatabaseError,
  endInstance,
  fenceDead,
  findAbandoned,
  findOrphans,
  forgetEnded,
  readHistory,
  registerInstance,
  takeHoldsAlong,
} from './instance.ts'
import { keepSpool, lockSpool } from './keep-spool.ts'
import { LedgerMetrics, type LedgerState, oldestOf } from './metrics.ts'
import { LEDGER_LIMITS, type LedgerLimits, type LedgerOptions } from './options.ts'
import { Placing } from './placing.ts'
import { replay } from './replay.ts'
import { SetAsideReport } from './set-aside-report.ts'
import { Settling } from './settling.ts'
import { Spool } from './spool.ts'
import type { Ledger, Settlement } from './types.ts'

export interface RunningLedger extends Ledger {
  /** Wakes the calls that wait for money in this wallet. Called after this process has credited the wallet. */
  wake(accountId: number): void
  /** False while Postgres is not responding. */
  readonly available: boolean
  metrics(): LedgerState
}

/**
 * Makes Postgres use one plan for every batch size, with index look-ups only: a table that was small or had no statistics when
 * the statement was planned may be large a minute later.
 */
const SESSION = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
}

/** Maximum number of batches of holds freed by one sweep; the next sweep continues. */
const SWEEP_ROUNDS_MAX = 100

interface Parts {
  readonly options: LedgerOptions
  readonly limits: LedgerLimits
  readonly pools: { readonly holds: StatementPool; readonly settles: StatementPool; readonly life: StatementPool }
  readonly lock: FileLock
  readonly spool: Spool
  readonly settling: Settling
  /**
   * This process's calls, from admission until they are durably settled, each with the amount of its hold; null while that is
   * unknown.
   */
  readonly open: TransientMap<string, MicroVnd | null>
  readonly metrics: LedgerMetrics
  readonly setAside: SetAsideReport
  /** Identity of the database that this process started with. */
  readonly databaseId: string
  instanceId: string
  /** Previous instance id, if another process declared this one dead; holds may carry it until `untilMs`. Null otherwise. */
  former: { readonly instanceId: string; readonly untilMs: number } | null
  /** The database history (see `readHistory`) to which this process has sent all settlements in its spool; null if unknown. */
  history: string | null
  available: boolean
}

/**
 * Starts the ledger: registers this process, settles what an earlier process of the same name left in the spool, and frees the
 * holds of dead processes. The database must be migrated. Rejects if Postgres cannot be reached, or if a running process uses the
 * same name and spool.
 */
export async function createLedger(options: LedgerOptions): Promise<RunningLedger> {
  const limits = { ...LEDGER_LIMITS, ...options.limits }
  const lock = await lockSpool(options, limits)
  const pools = openPools(options, limits)
  try {
    const { catalogueDigest } = options
    const catalogue = catalogueDigest === undefined ? null : await catalogueId(pools.life, catalogueDigest)
    const instanceId = await registerInstance(pools.life, options.instanceName)
    const databaseId = await readDatabaseId(pools.life)
    const folder = spoolFolder(options, options.instanceName)
    const spool = new Spool({ folder, limits, databaseId, report: options.report })
    return await start({ options, limits, pools, spool, instanceId, databaseId, lock, catalogue })
  } catch (error) {
    await Promise.all(Object.values(pools).map(pool => pool.close()))
    lock.release()
    throw error
  }
}

async function start(given: {
  options: LedgerOptions
  limits: LedgerLimits
  pools: Parts['pools']
  spool: Spool
  instanceId: string
  databaseId: string
  lock: FileLock
  catalogue: number | null
}): Promise<RunningLedger> {
  const { options, limits, pools, spool, catalogue } = given
  const open: Parts['open'] = new TransientMap()
  const metrics = new LedgerMetrics()
  const placing = new Placing({
    pool: pools.holds,
    limits,
    report: options.report,
    instanceId: () => parts.instanceId,
    isQueued: accountId => admission.isQueued(accountId),
    metrics,
  })
  const admission = new Admission(placing, limits)
  const extending = new Extending({ pool: pools.holds, limits, report: options.report, metrics })
  const settling = new Settling({
    pool: pools.settles,
    spool,
    limits,
    report: options.report,
    onWallets: wallets => {
      for (const [accountId, state] of wallets) admission.wake(accountId, state)
    },
    onSettled: callId => open.delete(callId),
    heldOf: callId => open.get(callId) ?? null,
    metrics,
  })
  const parts: Parts = {
    options,
    limits,
    pools,
    lock: given.lock,
    spool,
    settling,
    open,
    metrics,
    setAside: new SetAsideReport(pools.life),
    databaseId: given.databaseId,
    instanceId: given.instanceId,
    former: null,
    history: spool.history,
    available: true,
  }
  const left = spool.load()
  await heartbeat(parts)
  const sent = await replay(left, { spool, pool: pools.life, settling })
  if (sent > 0) report(parts, 'spool_replayed', `settled ${sent} calls left by an earlier process`)
  await parts.setAside.update(options.instanceName, spool.setAside)
  await adoptSpools(parts)
  await sweepDead(parts)
  await forgetEnded(pools.life)
  const timers = [every(limits.heartbeatMs, parts, heartbeat), every(limits.sweepMs, parts, sweep)]
  let closed: Promise<void> | null = null
  return {
    async admit(request, admissionOptions) {
      open.set(request.callId, null)
      let outcome: keyof LedgerMetrics['admissions'] = 'failed'
      try {
        const answer = await admission.admit(request, admissionOptions)
        outcome = answer.outcome
        if (answer.outcome === 'admitted') open.set(request.callId, answer.heldMicroVnd)
        return answer
      } finally {
        metrics.admissions[outcome]++
        if (outcome !== 'admitted') open.delete(request.callId)
      }
    },
    async extend(request, extendOptions) {
      const { callId } = request
      if (open.has(callId)) open.set(callId, null)
      const answer = await extending.extend(request, extendOptions)
      if (open.has(callId) && answer !== null) open.set(callId, answer.heldMicroVnd)
      return answer
    },
    async settle(settlement) {
      try {
        return await settling.settle({ ...settlement, catalogueId: catalogue })
      } catch (error) {
        // The settlement is invalid. Stop counting the call as open, so that the sweep frees its hold.
        open.delete(settlement.callId)
        throw error
      }
    },
    wake: accountId => admission.wake(accountId, null),
    get available() {
      return parts.available
    },
    metrics: () => ({
      waiting: admission.waiting,
      queues: [placing.queue, extending.queue, settling.queue, admission.queue],
      open: open.size,
      oldestOpenedMs: oldestOf(open.keys()),
      owed: settling.size,
      spool: spool.size,
      setAside: parts.setAside.total,
      pools: Object.values(pools).map(pool => pool.load),
      counts: metrics,
    }),
    close() {
      extending.stop()
      closed ??= close(parts, { admission, timers })
      return closed
    },
  }
}

async function close(
  parts: Parts,
  { admission, timers }: { admission: Admission; timers: (() => Promise<void>)[] },
): Promise<void> {
  admission.close()
  await Promise.all([parts.settling.stop(parts.limits.closeWaitMs), ...timers.map(stop => stop())])
  parts.spool.close()
  if (parts.spool.size.owed + parts.settling.size === 0)
    await endInstance(parts.pools.life, parts.instanceId).catch(() => {})
  await Promise.all(Object.values(parts.pools).map(pool => pool.close()))
  parts.lock.release()
}

function openPools(options: LedgerOptions, limits: LedgerLimits): Parts['pools'] {
  const shared = {
    url: options.url,
    statementTimeoutMs: limits.statementTimeoutMs,
    deadlineMs: limits.statementTimeoutMs + 1_000,
    connectTimeoutMs: limits.connectTimeoutMs,
    session: SESSION,
  }
  const pool = (purpose: string, connectionsMax: number, synchronousCommit: 'on' | 'off'): StatementPool =>
    openStatementPool({ ...shared, name: `gateway ${purpose}`, connectionsMax, synchronousCommit })
  return {
    // Holds need no synchronous commit: losing one in a crash of Postgres loses no money, because only settlements charge.
    holds: pool('holds', limits.concurrency, 'off'),
    settles: pool('settles', limits.concurrency, 'on'),
    life: pool('life', 1, 'on'),
  }
}

/** Reports that this process is alive, and detects failovers, after which it sends recent settlements again. */
async function heartbeat(parts: Parts): Promise<void> {
  const { options, pools, spool, settling } = parts
  keepSpool(parts)
  const self = () => ({ instanceId: parts.instanceId, name: options.instanceName })
  let answer = await beat(pools.life, self())
  if (answer === null) {
    parts.former = { instanceId: parts.instanceId, untilMs: performance.now() + parts.limits.orphanMs }
    parts.instanceId = await registerInstance(pools.life, options.instanceName)
    await takeAlong(parts)
    report(parts, 'fenced', 'another process declared this one dead; registered again')
    answer = await beat(pools.life, self())
  }
  if (answer === null) return
  if (answer.databaseId !== parts.databaseId) throw new DifferentDatabaseError()
  if (answer.history !== parts.history) {
    if (parts.history !== null) {
      let count = 0
      for (const settlements of spool.retained()) {
        count += await replay(settlements, { spool, pool: pools.life, settling })
      }
      report(
        parts,
        'spool_replayed',
        `Postgres failed over or was restored; ${count} recent settlements were sent again`,
      )
    }
    // Only now may sweeps free holds: all settlements in the spool have been sent to this history.
    parts.history = answer.history
    spool.history = answer.history
  }
  // Delete old files only now: after a failover, Postgres may have lacked settlements recorded in them.
  spool.tidy()
}

async function takeAlong(parts: Parts): Promise<void> {
  const { former, instanceId, open, pools } = parts
  if (former === null) return
  await takeHoldsAlong(pools.life, { from: former.instanceId, to: instanceId, open: open.keys() })
  if (performance.now() > former.untilMs) parts.former = null
}

/** Frees lost holds. Each process handles its own disk and holds; one process at a time handles the rest of the database. */
async function sweep(parts: Parts): Promise<void> {
  const { options, limits, pools, open } = parts
  if ((await readHistory(pools.life)) !== parts.history) return
  await takeAlong(parts)
  await parts.setAside.update(options.instanceName, parts.spool.setAside)
  const foundDead = await adoptSpools(parts)
  const turn = { task: 'ledger sweep', everyMs: limits.sweepMs }
  if (!(await takeTurn(pools.life.query, turn, () => sweepDead(parts))) && foundDead) await sweepDead(parts)
  const { instanceId, history } = parts
  const own = { instanceId, olderThanMs: limits.orphanMs, open: open.keys(), limit: limits.batchMax, history }
  await free(parts, await findOrphans(pools.life, own))
}

async function sweepDead(parts: Parts): Promise<void> {
  const { options, limits, pools } = parts
  const { lostAfterMs, restartGraceMs } = limits
  const { instanceId, history } = parts
  await fenceDead(pools.life, { instanceId, name: options.instanceName, lostAfterMs, restartGraceMs, history })
  const own = { limit: limits.batchMax, lostAfterMs, history }
  for (let round = 0; round < SWEEP_ROUNDS_MAX; round++) {
    const abandoned = await findAbandoned(pools.life, { ...own, open: parts.open.keys() })
    await free(parts, abandoned)
    if (abandoned.length < limits.batchMax) break
  }
}

async function free(parts: Parts, settlements: readonly Settlement[]): Promise<void> {
  if (settlements.length === 0) return
  await parts.settling.free(settlements)
  parts.metrics.holdsSwept += settlements.length
  report(parts, 'holds_swept', `freed ${settlements.length} holds of calls that never ended`)
}

function report(parts: Parts, code: 'fenced' | 'spool_replayed' | 'holds_swept', message: string): void {
  parts.options.report({ level: code === 'fenced' ? 'warn' : 'info', code, message })
}

/** Reads the database's identity. It survives a failover and a restore, and standbys share it. */
async function readDatabaseId(pool: StatementPool): Promise<string> {
  const rows = await pool.query<{ database_id: string }>('select database_id from database_identity', [])
  return rows[0]!.database_id
}
