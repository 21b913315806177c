/** Finds the account of an API key. Nothing is cached: every look-up queries the database. */

import { setImmediate as turn } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'
import { type Again, backoffMs, createBatcher, NOTHING_AGAIN, type QueueLoad, queueLoad } from '../lib/batcher.ts'
import { classifyFault, openStatementPool, type PoolLoad, plainArray, type StatementPool } from '../lib/database.ts'

export interface FoundKey {
  readonly accountId: number
  readonly keyId: number
  /** The key's hash as stored. Placing a hold requires it, to verify the key again. */
  readonly keyHash: Uint8Array
  readonly state: KeyState
  /** Calls per minute; 0: no limit; null: the catalogue's default. */
  readonly rateLimitPerMinute: number | null
  /** Calls in flight; 0: no limit; null: the catalogue's default. */
  readonly concurrencyMax: number | null
  /** Models that the key may call, as entry ids and `family/*`; null: all. */
  readonly allowedModels: readonly string[] | null
  /** True if the account's balance is 0. */
  readonly walletEmpty: boolean
  /**
   * The wallet's version of its keys. As long as it lasts, holds are placed without reading the key. Null if the key must be read
   * for each call, because it has a limit, an end or a list of models, or will be replaced.
   */
  readonly keysVersion: number | null
}

/** `blocked`: the account is blocked. `disabled`: the owner paused the key. */
export type KeyState = 'active' | 'revoked' | 'blocked' | 'disabled' | 'expired'

export interface KeyFinderOptions {
  readonly url: string
  readonly concurrency?: number
  readonly batchMax?: number
  /** Maximum number of look-ups that may wait; more are refused. */
  readonly waitingMax?: number
  /** How long a call waits for its look-up while Postgres is failing, in ms. */
  readonly retryMs?: number
}

export interface KeyFinder {
  /**
   * Finds the key that is stored under one of these hashes (see candidateHashes); null if there is none. Rejects with
   * GatewayError `ledger_unavailable` if the database is not responding, never with an authentication error.
   */
  find(hashes: readonly Uint8Array[]): Promise<FoundKey | null>
  readonly load: PoolLoad
  readonly queue: QueueLoad
  close(): Promise<void>
}

const FIND = `select r.n::integer as n, k.account_id, k.key_id, r.hash_hex,
    key_state(k.revoked_at, k.suspended_at, k.disabled_at, k.expires_at) as state, k.rate_limit_per_minute, k.concurrency_max,
    array_to_json(k.allowed_models)::text as allowed_models, w.balance_micro_vnd = 0 as wallet_empty,
    case when k.key_hash = decode(r.hash_hex, 'hex') and k.monthly_cap_micro_vnd is null and k.expires_at is null
          and k.allowed_models is null then w.keys_version end as keys_version
  from unnest($1::text[], $2::text[]::integer[]) as r(hash_hex, n)
 cross join lateral key_by_hash(decode(r.hash_hex, 'hex')) k
  join wallet w on w.account_id = k.account_id`

interface Row {
  readonly n: number
  readonly account_id: string
  readonly key_id: string
  readonly hash_hex: string
  readonly state: KeyState
  readonly rate_limit_per_minute: number | null
  readonly concurrency_max: number | null
  readonly allowed_models: string | null
  readonly wallet_empty: boolean
  readonly keys_version: string | null
}

/** Maximum number of calls resumed in one turn of the event loop. */
const ANSWERS_PER_TURN = 20

interface Question {
  readonly hashes: readonly Uint8Array[]
  readonly resolve: (found: FoundKey | null) => void
  readonly reject: (error: Error) => void
  expired: boolean
}

/** Creates a finder whose concurrent look-ups share one statement. */
export function createKeyFinder(options: KeyFinderOptions): KeyFinder {
  const { concurrency = 2, batchMax = 500, waitingMax = 20_000, retryMs = 5_000 } = options
  const pool = openStatementPool({
    url: options.url,
    name: 'gateway keys',
    connectionsMax: concurrency,
    statementTimeoutMs: 4_000,
    deadlineMs: 5_000,
    connectTimeoutMs: 3_000,
    session: { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' },
  })
  let next = 0
  let failures = 0
  const batcher = createBatcher<Question>({ concurrency, batchMax, queueOf: () => next++, run })

  let lastFault: unknown = 'Postgres did not respond in time'

  async function run(taken: Question[]): Promise<Again<Question>> {
    const batch = taken.filter(question => !question.expired)
    if (batch.length === 0) return NOTHING_AGAIN
    try {
      const found = await findKeys(pool, batch)
      failures = 0
      for (const [index, question] of batch.entries()) {
        // Resuming calls takes CPU time, so let other connections have a turn in between.
        if (index > 0 && index % ANSWERS_PER_TURN === 0) await turn()
        question.resolve(found.get(index) ?? null)
      }
      return NOTHING_AGAIN
    } catch (error) {
      lastFault = error
      if (classifyFault(error) === 'bug') {
        for (const question of batch) question.reject(unavailable(error))
        return NOTHING_AGAIN
      }
      return { items: batch.filter(question => !question.expired), pauseMs: backoffMs(++failures, 250) }
    }
  }

  return {
    find(hashes) {
      if (hashes.length === 0) return Promise.resolve(null)
      if (batcher.size >= waitingMax) return Promise.reject(unavailable('too many look-ups are waiting'))
      const { promise, resolve, reject } = Promise.withResolvers<FoundKey | null>()
      const question: Question = { hashes, resolve, reject, expired: false }
      const timer = setTimeout(() => {
        question.expired = true
        reject(unavailable(lastFault))
      }, retryMs)
      batcher.push(question)
      return promise.finally(() => clearTimeout(timer))
    },
    get load() {
      return pool.load
    },
    get queue() {
      return queueLoad('keys', batcher, waitingMax)
    },
    close: () => pool.close(),
  }
}

async function findKeys(pool: StatementPool, batch: readonly Question[]): Promise<ReadonlyMap<number, FoundKey>> {
  const hashes: string[] = []
  const numbers: number[] = []
  for (const [index, question] of batch.entries()) {
    for (const hash of question.hashes) {
      hashes.push(Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('hex'))
      numbers.push(index)
    }
  }
  const found = new Map<number, FoundKey>()
  for (const row of await pool.query<Row>(FIND, [plainArray(hashes), plainArray(numbers)])) {
    found.set(row.n, {
      accountId: Number(row.account_id),
      keyId: Number(row.key_id),
      keyHash: Buffer.from(row.hash_hex, 'hex'),
      state: row.state,
      rateLimitPerMinute: row.rate_limit_per_minute,
      concurrencyMax: row.concurrency_max,
      allowedModels: row.allowed_models === null ? null : (JSON.parse(row.allowed_models) as string[]),
      walletEmpty: row.wallet_empty,
      keysVersion: row.keys_version === null ? null : Number(row.keys_version),
    })
  }
  return found
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
