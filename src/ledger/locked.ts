/**
 * Finds wallets that another session keeps locked, such as a transaction whose process hangs, so that their calls do not hold up
 * those of other accounts. A batch would wait for such a wallet until its statement times out.
 */

import { type Again, NOTHING_AGAIN } from '../lib/batcher.ts'
import { faultCode, plainArray, type StatementPool } from '../lib/database.ts'

/** Pause before calls of locked wallets are tried again, in ms. */
const PAUSE_MS = 25
/** How long each batch is checked after a statement timed out or a stuck wallet was found, in ms. */
const WATCH_MS = 60_000
/**
 * A wallet is stuck if every check has found it locked for this long, in ms. Other processes lock a busy wallet again and again,
 * which must not keep the checks going.
 */
const STUCK_MS = 5_000
const TIMEOUTS: ReadonlySet<string> = new Set(['57014', '55P03', 'STATEMENT_DEADLINE'])

const LOCKED = `
with free_wallets as materialized (
  select account_id from wallet where account_id = any($1::bigint[]) order by account_id for no key update skip locked)
select account_id from wallet
 where account_id = any($1::bigint[]) and account_id not in (select account_id from free_wallets)`
const LOCKED_OF_KEYS = `
with known as materialized (
  select given.hash, wallet.account_id
    from unnest($1::text[]) as given (hash)
   cross join lateral key_by_hash(decode(given.hash, 'hex')) opened
    join wallet on wallet.account_id = opened.account_id),
free_wallets as materialized (
  select account_id from wallet where account_id in (select account_id from known)
   order by account_id for no key update skip locked)
select hash from known where account_id not in (select account_id from free_wallets)`

export async function findLockedAccounts(
  pool: StatementPool,
  accountIds: Iterable<number>,
): Promise<ReadonlySet<number>> {
  const rows = await pool.query<{ account_id: string }>(LOCKED, [plainArray(accountIds)])
  return new Set(rows.map(row => Number(row.account_id)))
}

/** Returns the hashes of keys, in hexadecimal, whose account's wallet is locked. */
export async function findLockedKeys(pool: StatementPool, keyHashes: Iterable<string>): Promise<ReadonlySet<string>> {
  const rows = await pool.query<{ hash: string }>(LOCKED_OF_KEYS, [plainArray(keyHashes)])
  return new Set(rows.map(row => row.hash))
}

/** Keeps calls of locked wallets out of batches. Costs nothing until a statement has timed out. */
export class LockedWallets<Item, Owner> {
  readonly #ownerOf: (item: Item) => Owner
  readonly #find: (owners: ReadonlySet<Owner>) => Promise<ReadonlySet<Owner>>
  #untilMs = 0
  /** When wallets were first found locked, as long as no later check has found them free. */
  readonly #lockedMs = new Map<Owner, number>()

  constructor(given: {
    /** Identifies the wallet that the item needs. */
    readonly ownerOf: (item: Item) => Owner
    readonly find: (owners: ReadonlySet<Owner>) => Promise<ReadonlySet<Owner>>
  }) {
    this.#ownerOf = given.ownerOf
    this.#find = given.find
  }

  /** Call when a statement has failed. If it timed out, it may have waited for a wallet. */
  failed(error: unknown): void {
    if (TIMEOUTS.has(faultCode(error))) this.#untilMs = performance.now() + WATCH_MS
  }

  /** Sends the items of a batch whose wallets are free; the others go back to the queue. Rejects if Postgres cannot be asked. */
  async send(batch: Item[], send: (free: Item[]) => Promise<Again<Item>>): Promise<Again<Item>> {
    if (performance.now() >= this.#untilMs) {
      this.#lockedMs.clear()
      return send(batch)
    }
    const owners = new Set(batch.map(this.#ownerOf))
    const found = await this.#find(owners)
    for (const owner of owners) this.#note(owner, found.has(owner))
    if (found.size === 0) return send(batch)
    const free = batch.filter(item => !found.has(this.#ownerOf(item)))
    const locked = batch.filter(item => found.has(this.#ownerOf(item)))
    const { items, pauseMs } = free.length === 0 ? NOTHING_AGAIN : await send(free)
    return { items: [...locked, ...items], pauseMs: Math.max(pauseMs, PAUSE_MS) }
  }

  #note(owner: Owner, isLocked: boolean): void {
    const nowMs = performance.now()
    const sinceMs = this.#lockedMs.get(owner) ?? nowMs
    if (!isLocked) this.#lockedMs.delete(owner)
    else this.#lockedMs.set(owner, sinceMs)
    if (isLocked && nowMs - sinceMs >= STUCK_MS) this.#untilMs = nowMs + WATCH_MS
  }
}
