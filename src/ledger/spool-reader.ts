/**
 * Reads the trustworthy lines of a spool, sets damaged lines aside, and skips files that belong to other databases. Never
 * throws because of a file's contents.
 */

import { existsSync, renameSync } from 'node:fs'
import type { LedgerEvent, LedgerLimits } from './options.ts'
import { type DamagedLine, SetAside } from './set-aside.ts'
import { databaseOf, type RawLine, readLines } from './spool-file.ts'
import { readLine, type SpoolLine } from './spool-line.ts'
import type { Settlement } from './types.ts'

export interface SpoolOptions {
  /** A folder that only this process uses. */
  readonly folder: string
  readonly limits: Pick<
    LedgerLimits,
    'spoolSegmentBytes' | 'spoolSegmentMs' | 'spoolRetentionMs' | 'spoolBytesMax' | 'spoolSetAsideBytesMax'
  >
  /** The database to which the spool's settlements belong; those for other databases are not sent. */
  readonly databaseId: string
  readonly report: (event: LedgerEvent) => void
}

/** A settlement found in a spool file. */
export interface SpooledSettlement {
  readonly settlement: Settlement
  /** The raw line and its file, if the line has no checksum, so that the database must confirm it; otherwise null. */
  readonly unproven: { readonly path: string; readonly line: RawLine } | null
}

/** What an operator must look at in a spool. */
export interface SpoolSetAside {
  readonly folder: string
  /** Number of lines that are damaged or unproven. */
  readonly lines: number
  /** Number of files that belong to another database. */
  readonly files: number
}

/** Suffix of files that belong to another database. They are read again if a gateway returns to that database. */
const FOREIGN = '.foreign.jsonl'
/** Maximum number of damaged lines that are collected before they are appended to the set-aside file. */
const DAMAGED_MAX = 256
const NAMED_MAX = 3

export class SpoolReader {
  readonly #options: SpoolOptions
  readonly #aside: SetAside
  #foreign = 0

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#aside = new SetAside(options.folder, options.limits.spoolSetAsideBytesMax)
  }

  get state(): SpoolSetAside {
    const { folder } = this.#options
    try {
      return { folder, lines: this.#aside.lines, files: this.#foreign }
    } catch {
      // The file of set-aside lines cannot be read. Count it as one line, so that an operator looks at it.
      return { folder, lines: 1, files: this.#foreign }
    }
  }

  /**
   * Renames the file if its suffix does not match the database that it belongs to. Returns its path, or null if it belongs to
   * another database. Throws if the file cannot be renamed.
   */
  sortOut(path: string): string | null {
    const databaseId = this.#databaseOf(path)
    const isForeign = databaseId !== this.#options.databaseId
    if (isForeign) this.#foreign++
    const name = isForeign ? path.replace(/(\.foreign)?\.jsonl$/, FOREIGN) : path.replace(FOREIGN, '.jsonl')
    if (name !== path && !existsSync(name)) {
      const message = isForeign
        ? `${path} belongs to another database (${databaseId}); kept as ${name} and not replayed`
        : `${path} belongs to this database; replaying it`
      this.#options.report({ level: isForeign ? 'error' : 'info', code: 'spool_foreign', message })
      renameSync(path, name)
      return isForeign ? null : name
    }
    return isForeign ? null : path
  }

  isForeign(path: string): boolean {
    return this.#databaseOf(path) !== this.#options.databaseId
  }

  /** Yields the trustworthy lines and sets damaged lines aside. Marks the file to be kept if either fails. */
  *lines(file: {
    readonly path: string
    kept: boolean
  }): Generator<{ done: string } | { done: null; spooled: SpooledSettlement }> {
    const { path } = file
    let damaged: DamagedLine[] = []
    const setAside = (): void => {
      if (!this.setAside(path, damaged)) file.kept = true
      damaged = []
    }
    try {
      for (const line of readLines(path)) {
        const read: SpoolLine = readLine(line.bytes, this.#options.databaseId)
        if (read.kind === 'done') yield { done: read.callId }
        else if (read.kind === 'settlement') {
          const unproven = read.checked ? null : { path, line }
          yield { done: null, spooled: { settlement: read.settlement, unproven } }
        } else if (read.kind === 'damaged') damaged.push({ line, reason: read.reason })
        if (damaged.length >= DAMAGED_MAX) setAside()
      }
    } catch (cause) {
      file.kept = true
      this.#options.report({ level: 'error', code: 'spool_failed', message: `cannot read ${path}`, cause })
    }
    setAside()
  }

  /** Appends lines to the set-aside file beside the spool. Returns false on failure; the lines' own file must then be kept. */
  setAside(path: string, damaged: readonly DamagedLine[]): boolean {
    if (damaged.length === 0) return true
    try {
      const added = this.#aside.add(path, damaged)
      if (added === 0) return true
      const places = damaged.slice(0, NAMED_MAX).map(({ line, reason }) => `${line.number} (${reason})`)
      const message = `${path}: ${added} lines cannot be trusted and are set aside in ${this.#aside.path}: ${places.join(', ')}${added > NAMED_MAX ? ' …' : ''}`
      this.#options.report({ level: 'error', code: 'spool_set_aside', message })
      return true
    } catch (cause) {
      const message = `${path} has ${damaged.length} lines that can neither be trusted nor set aside; the file is kept`
      this.#options.report({ level: 'error', code: 'spool_failed', message, cause })
      return false
    }
  }

  /** The database that the file names or, if it names none, this process's database. */
  #databaseOf(path: string): string {
    try {
      return databaseOf(path) ?? this.#options.databaseId
    } catch {
      // An unreadable file is reported once its lines are needed.
      return this.#options.databaseId
    }
  }
}
