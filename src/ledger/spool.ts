/**
 * An append-only log of settlements on disk. A line is appended before a settlement is sent to Postgres, and another once the
 * settlement is durable there, so nothing is lost if the process is killed. Contains metadata only, no prompts or replies.
 */

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { TransientMap } from '../lib/transient.ts'
import { writeDone, writeHeader, writeSettlement } from './spool-line.ts'
import { type SpooledSettlement, type SpoolOptions, SpoolReader, type SpoolSetAside } from './spool-reader.ts'
import type { Settlement } from './types.ts'

const FLUSH_CHARACTERS = 65_536

/** Suffix of a finished file whose settlements are all durable. */
const DONE = '.done.jsonl'

interface Segment {
  path: string
  readonly number: number
  readonly madeAt: number
  bytes: number
  /** Number of settlements in this file that are not durable in Postgres yet. */
  owed: number
  lastDoneAt: number
  /** Whether the file must be kept, because it has damaged lines that could not be set aside. */
  kept: boolean
}

export class Spool {
  readonly #options: SpoolOptions
  readonly #segments: Segment[] = []
  readonly #owedIn = new TransientMap<string, Segment>()
  readonly #reader: SpoolReader
  #current: Segment | null = null
  #lastNumber = 0
  #file: number | null = null
  #buffer = ''
  /** Ids of the settlements in the buffer. */
  #buffered: string[] = []
  #scheduled = false
  #broken = false

  constructor(options: SpoolOptions) {
    this.#options = options
    mkdirSync(options.folder, { recursive: true, mode: 0o700 })
    this.#reader = new SpoolReader(options)
  }

  /** Reads the settlements that an earlier process of this name left unfinished. Call once, before the first append. */
  load(): readonly SpooledSettlement[] {
    const owed = new Map<string, { spooled: SpooledSettlement; segment: Segment }>()
    const done = new Set<string>()
    for (const name of readdirSync(this.#options.folder).sort()) {
      const segment = this.#take(name)
      if (segment === null || segment.path.endsWith(DONE)) continue
      for (const line of this.#reader.lines(segment)) {
        if (line.done !== null) done.add(line.done)
        else if (line.spooled.unproven === null || !owed.has(line.spooled.settlement.callId)) {
          owed.set(line.spooled.settlement.callId, { spooled: line.spooled, segment })
        }
      }
    }
    for (const callId of done) owed.delete(callId)
    for (const [callId, { segment }] of owed) this.#owe(callId, segment)
    return [...owed.values()].map(({ spooled }) => spooled)
  }

  /** Yields all retained settlements, durable or not, one file at a time; reads each file lazily. */
  *retained(): Generator<readonly SpooledSettlement[]> {
    this.flush()
    for (const segment of [...this.#segments])
      if (!this.#reader.isForeign(segment.path)) yield this.#settlementsIn(segment)
  }

  /** Reads back the settlements that are not durable yet. */
  owed(): readonly Settlement[] {
    this.flush()
    const segments = this.#segments.filter(segment => segment.owed > 0)
    const settlements = segments.flatMap(segment => this.#settlementsIn(segment)).map(({ settlement }) => settlement)
    return settlements.filter(settlement => this.#owedIn.has(settlement.callId))
  }

  /**
   * Moves a settlement to the set-aside file, because it might be damaged: it has no checksum, and the database has no matching
   * hold or usage row.
   */
  giveUp({ settlement, unproven }: SpooledSettlement): void {
    if (unproven === null) throw new Error('a settlement with a checksum needs no other proof')
    if (this.#reader.setAside(unproven.path, [{ line: unproven.line, reason: 'unproven' }]))
      this.done(settlement.callId)
  }

  /** Lines and files of this spool that need an operator's attention. */
  get setAside(): SpoolSetAside {
    return this.#reader.state
  }

  /** Number of settlements not yet durable, and size of all files in bytes. */
  get size(): { readonly owed: number; readonly bytes: number } {
    const bytes = this.#segments.reduce((sum, segment) => sum + segment.bytes, this.#buffer.length)
    return { owed: this.#owedIn.size, bytes }
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0
  }

  /** The database history (see `readHistory`) that has this spool's finished settlements; null if unknown. */
  get history(): string | null {
    try {
      const [history, databaseId] = readFileSync(join(this.#options.folder, 'timeline'), 'latin1')
        .slice(0, 128)
        .split(' ')
      return databaseId === undefined || databaseId === this.#options.databaseId ? history! : null
    } catch {
      return null
    }
  }

  set history(history: string) {
    try {
      const text = `${history} ${this.#options.databaseId}`
      writeFileSync(join(this.#options.folder, 'timeline'), text, { mode: 0o600 })
    } catch (cause) {
      this.#fail('cannot write the spool', cause)
    }
  }

  /** Adds a settlement. It is written to the file at the end of this turn of the event loop, or at the next flush. */
  append(settlement: Settlement): void {
    if (this.#owedIn.has(settlement.callId)) return
    this.#owe(settlement.callId, this.#segment())
    this.#buffered.push(settlement.callId)
    this.#buffer += writeSettlement(settlement, this.#options.databaseId)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.flush()
    })
  }

  /**
   * Records that a settlement is durable. The record is written with the next line or by `tidy`. If it is lost, the next
   * process sends the settlement again, which changes nothing.
   */
  done(callId: string): void {
    const segment = this.#owedIn.get(callId)
    if (segment === undefined) return
    this.#owedIn.delete(callId)
    segment.owed--
    segment.lastDoneAt = Date.now()
    this.#segment()
    this.#buffer += writeDone(callId, this.#options.databaseId)
    if (this.#buffer.length > FLUSH_CHARACTERS) this.flush()
  }

  /** Hands all lines to the operating system. No fsync: the spool must survive a killed process, not a machine crash. */
  flush(): void {
    const segment = this.#current
    if (this.#buffer === '' || segment === null) return
    const bytes = Buffer.from(this.#buffer, 'utf8')
    const callIds = this.#buffered
    this.#buffer = ''
    this.#buffered = []
    try {
      this.#file ??= openSync(segment.path, 'a', 0o600)
      for (let offset = 0; offset < bytes.length; ) offset += writeSync(this.#file, bytes, offset)
      segment.bytes += bytes.length
      this.#broken = false
    } catch (cause) {
      // Settling continues without the spool, because Postgres is authoritative. The next line starts a new file.
      this.#fail('cannot write the spool', cause)
      this.#retire()
      for (const callId of callIds) this.#forget(callId)
      if (!existsSync(segment.path)) this.#segments.splice(this.#segments.indexOf(segment), 1)
    }
  }

  /**
   * Forgets files that somebody has removed, and what they owed, so that it can be appended again. Lines written to them since
   * would end with the process.
   */
  forgetRemoved(): void {
    this.flush()
    const removed = this.#segments.filter(({ path }) => !existsSync(path))
    if (removed.length === 0) return
    const paths = removed.map(({ path }) => path).join(', ')
    const message = `somebody removed ${paths} while the gateway is running; settlements under way are written again`
    this.#options.report({ level: 'error', code: 'spool_failed', message })
    for (const segment of removed) {
      if (segment === this.#current) this.#retire()
      this.#segments.splice(this.#segments.indexOf(segment), 1)
      for (const [callId, owing] of this.#owedIn) if (owing === segment) this.#owedIn.delete(callId)
    }
  }

  /**
   * Starts a new file if the current one is old, marks files whose settlements are all durable (so that the next process can skip
   * them), and deletes marked files past the retention time.
   */
  tidy(now: number = Date.now()): void {
    const { spoolSegmentMs, spoolRetentionMs, spoolBytesMax } = this.#options.limits
    this.flush()
    if (this.#current !== null && now - this.#current.madeAt > spoolSegmentMs) this.#retire()
    let bytes = this.#segments.reduce((sum, segment) => sum + segment.bytes, 0)
    for (const segment of [...this.#segments]) {
      if (segment === this.#current || segment.owed > 0 || segment.kept) continue
      if (now - segment.lastDoneAt < spoolRetentionMs && bytes <= spoolBytesMax) this.#markDone(segment)
      else if (this.#remove(segment)) bytes -= segment.bytes
    }
  }

  /**
   * Closes the current file but deletes none: if Postgres fails over after this process has stopped, recent settlements may
   * have to be sent again.
   */
  close(): void {
    this.flush()
    this.#retire()
    for (const segment of this.#segments) if (segment.owed === 0 && !segment.kept) this.#markDone(segment)
  }

  #markDone(segment: Segment): void {
    if (segment.path.endsWith(DONE)) return
    const path = segment.path.replace(/\.jsonl$/, DONE)
    try {
      renameSync(segment.path, path)
      segment.path = path
    } catch (cause) {
      if (existsSync(segment.path)) this.#fail('cannot tidy the spool', cause)
    }
  }

  #remove(segment: Segment): boolean {
    try {
      rmSync(segment.path, { force: true })
    } catch (cause) {
      this.#fail('cannot tidy the spool', cause)
      return false
    }
    this.#segments.splice(this.#segments.indexOf(segment), 1)
    return true
  }

  #fail(message: string, cause: unknown): void {
    if (!this.#broken) this.#options.report({ level: 'error', code: 'spool_failed', message, cause })
    this.#broken = true
  }

  /** Adds a file in the folder to the spool. Null if it is something else, unreadable, or belongs to another database. */
  #take(name: string): Segment | null {
    const found = /^(\d{8})(\.done|\.foreign)?\.jsonl$/.exec(name)
    if (found === null) return null
    const number = Number(found[1])
    this.#lastNumber = Math.max(this.#lastNumber, number)
    let path = join(this.#options.folder, name)
    try {
      if (!statSync(path).isFile()) throw new Error('it is not a file')
      const own = path.endsWith(DONE) ? path : this.#reader.sortOut(path)
      if (own === null) return null
      path = own
      const { size: bytes, mtimeMs: madeAt } = statSync(path)
      const segment = { path, number, madeAt, bytes, owed: 0, lastDoneAt: madeAt, kept: false }
      this.#segments.push(segment)
      return segment
    } catch (cause) {
      this.#options.report({ level: 'error', code: 'spool_failed', message: `cannot read ${path}`, cause })
      return null
    }
  }

  #settlementsIn(segment: Segment): SpooledSettlement[] {
    const settlements: SpooledSettlement[] = []
    for (const line of this.#reader.lines(segment)) if (line.done === null) settlements.push(line.spooled)
    return settlements
  }

  #owe(callId: string, segment: Segment): void {
    this.#owedIn.set(callId, segment)
    segment.owed++
  }

  #forget(callId: string): void {
    const segment = this.#owedIn.get(callId)
    if (segment === undefined) return
    this.#owedIn.delete(callId)
    segment.owed--
  }

  #segment(): Segment {
    if (this.#current !== null && this.#current.bytes + this.#buffer.length >= this.#options.limits.spoolSegmentBytes) {
      this.flush()
      this.#retire()
    }
    if (this.#current !== null) return this.#current
    const number = ++this.#lastNumber
    const path = join(this.#options.folder, `${String(number).padStart(8, '0')}.jsonl`)
    const now = Date.now()
    this.#current = { path, number, madeAt: now, bytes: 0, owed: 0, lastDoneAt: now, kept: false }
    this.#segments.push(this.#current)
    this.#buffer += writeHeader(this.#options.databaseId)
    return this.#current
  }

  #retire(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
    this.#current = null
  }
}
