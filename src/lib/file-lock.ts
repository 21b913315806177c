/**
 * Locks between processes on one machine, which the kernel releases when their holder dies. Node has no flock, but its built-in
 * SQLite takes the same kernel locks on an empty file.
 */

import { statSync, truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 20

/**
 * One holder's handle on a lock file. Several holders may share the lock, or one may hold it exclusively. The file stays empty.
 */
export class FileLock {
  readonly #path: string
  #handle: DatabaseSync | null = null
  /** The number of the locked file, which no other file gets as long as the handle is open. */
  #inode: number | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** True when the lock was acquired; false when another holder has it exclusively. */
  tryShared(): boolean {
    return this.#try(handle => {
      handle.exec('begin')
      handle.prepare('select count(*) from sqlite_schema').get()
    })
  }

  /** True when the lock was acquired; false when anyone else holds it. */
  tryExclusive(): boolean {
    return this.#try(handle => handle.exec('begin exclusive'))
  }

  /** Waits for the lock for at most `timeoutMs`, then throws an Error that names the file. */
  async exclusive({ timeoutMs }: { timeoutMs: number }): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!this.tryExclusive()) {
      if (performance.now() > deadline)
        throw new Error(`${this.#path} was still locked by another process after ${timeoutMs} ms`)
      await sleep(POLL_MS)
    }
  }

  /** False when the lock protects nothing: it is not held, or its file has been removed or replaced. */
  get isInPlace(): boolean {
    return this.#handle !== null && this.#inode !== null && this.#inode === inodeOf(this.#path)
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
      // Something wrote into the file. Its content has no meaning, and nobody else holds the lock, so the file can be emptied.
      if (!hasCode(error, SQLITE_NOTADB) || statSync(this.#path).size === 0) throw error
      truncateSync(this.#path)
      return this.#try(take)
    }
    this.#handle = handle
    this.#inode = inodeOf(this.#path)
    return true
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null
}

const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26

function hasCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === code
}
