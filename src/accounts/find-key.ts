/** Finds the account of a presented key, for requests that place no hold. Always asks the database. */

import { setImmediate as turn } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'
import { type Again, backoffMs, createBatcher, NOTHING_AGAIN } from '../lib/batcher.ts'
import { classifyFault, openStatementPool, type PoolLoad, plainArray, type StatementPool } from '../lib/database.ts'
import type { KeyRow } from './key-secret.ts'

export interface FoundKey {
  readonly accountId: number
  readonly keyId: number
  /** Hash under which it is stored; the hold statement takes it. */
  readonly keyHash: Uint8Array
  /** False once revoked. */
  readonly active: boolean
  /** Calls per minute; 0: no limit; null: the catalogue's default. */
  readonly rateLimitPerMinute: number | null
  /** Calls in flight; 0: no limit; null: the catalogue's default. */
  readonly concurrencyMax: number | null
  /** The account's balance is 0. */
  readonly walletEmpty: boolean
}

export interface KeyFinderOptions {
  readonly url: string
  readonly concurrency?: number
  readonly batchMax?: number
  /** Most look-ups waiting. */
  readonly waitingMax?: number
  /** Time for one look-up while Postgres fails, in ms. */
  readonly retryMs?: number
}

export interface KeyFinder {
  /**
   * Null when none of these hashes belongs to a key (see candidateHashes). Rejects with GatewayError `ledger_unavailable` when
   * the database does not answer, never with an authentication error.
   */
  find(hashes: readonly Uint8Array[]): Promise<FoundKey | null>
  /** Hash under which an active key is stored now; null when it is revoked. Rejects like `find`. */
  hashNow(key: KeyRow): Promise<Uint8Array | null>
  readonly load: PoolLoad
  close(): Promise<void>
}

const FIND = `select r.n::integer as n, a.account_id, a.key_id, (a.revoked_at is null and a.suspended_at is null) as active, r.hash_hex,
    a.rate_limit_per_minute, a.concurrency_max, w.balance_micro_vnd = 0 as wallet_empty
  from unnest($1::text[], $2::text[]::integer[]) as r(hash_hex, n)
  join api_key a on a.key_hash = decode(r.hash_hex, 'hex')
  join wallet w on w.account_id = a.account_id`

const HASH_NOW = `select encode(key_hash, 'hex') as hash_hex from api_key
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null and suspended_at is null`

interface Row {
  readonly n: number
  readonly account_id: string
  readonly key_id: string
  readonly active: boolean
  readonly hash_hex: string
  readonly rate_limit_per_minute: number | null
  readonly concurrency_max: number | null
  readonly wallet_empty: boolean
}

/** Calls resumed in one turn of the event loop. */
const ANSWERS_PER_TURN = 20

interface Question {
  readonly hashes: readonly Uint8Array[]
  readonly resolve: (found: FoundKey | null) => void
  readonly reject: (error: Error) => void
  expired: boolean
}

/** Concurrent look-ups share one statement. */
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

  let lastFault: unknown = 'Postgres did not answer in time'

  async function run(taken: Question[]): Promise<Again<Question>> {
    const batch = taken.filter(question => !question.expired)
    if (batch.length === 0) return NOTHING_AGAIN
    try {
      const found = await findKeys(pool, batch)
      failures = 0
      for (const [index, question] of batch.entries()) {
        // Resumed calls take time, so other connections get their turn in between.
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
    async hashNow({ accountId, keyId }) {
      try {
        const [row] = await pool.query<{ readonly hash_hex: string }>(HASH_NOW, [String(accountId), String(keyId)])
        return row === undefined ? null : Buffer.from(row.hash_hex, 'hex')
      } catch (error) {
        throw unavailable(error)
      }
    },
    get load() {
      return pool.load
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
      active: row.active,
      rateLimitPerMinute: row.rate_limit_per_minute,
      concurrencyMax: row.concurrency_max,
      walletEmpty: row.wallet_empty,
    })
  }
  return found
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
