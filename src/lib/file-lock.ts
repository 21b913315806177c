/**
 * Locks between processes of one machine that the kernel frees when their holder dies, however it dies.
 * Node has no flock; SQLite takes the same kernel locks on an empty file and is part of Node.
 */

import { statSync, truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 20

/** One holder of a lock file. Several may share it, or one may have it exclusively; nothing is ever written to it. */
export class FileLock {
  readonly #path: string
  #handle: DatabaseSync | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** True when the lock is held from now on; false when someone else has it exclusively. */
  tryShared(): boolean {
    return this.#try(handle => {
      handle.exec('begin')
      handle.prepare('select count(*) from sqlite_schema').get()
    })
  }

  /** True when the lock is held from now on; false when anyone else holds it. */
  tryExclusive(): boolean {
    return this.#try(handle => handle.exec('begin exclusive'))
  }

  /** Waits for the lock at most `timeoutMs`; throws an Error that names the file after that. */
  async exclusive({ timeoutMs }: { timeoutMs: number }): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!this.tryExclusive()) {
      if (performance.now() > deadline)
        throw new Error(`${this.#path} is locked by another process for ${timeoutMs} ms`)
      await sleep(POLL_MS)
    }
  }

  release(): void {
    this.#handle?.close()
    this.#handle = null
  }

  #try(take: (handle: DatabaseSync) => void): boolean {
    if (this.#handle !== null) throw new Error(`${this.#path} is already locked by this holder`)
    const handle = new DatabaseSync(this.#path, { timeout: 0 })
    try {
      take(handle)
    } catch (error) {
      handle.close()
      if (hasCode(error, SQLITE_BUSY)) return false
      // Something wrote into it. It is a lock by its name alone, and nobody else holds it: empty again, it will do.
      if (!hasCode(error, SQLITE_NOTADB) || statSync(this.#path).size === 0) throw error
      truncateSync(this.#path)
      return this.#try(take)
    }
    this.#handle = handle
    return true
  }
}

const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26

function hasCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === code
}
