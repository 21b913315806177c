/**
 * The file next to a spool to which lines that cannot be trusted are moved. It is for operators: the gateway never charges
 * anyone for its lines.
 */

import { isUtf8 } from 'node:buffer'
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { RawLine } from './spool-file.ts'

const NAME = 'set-aside.jsonl'

/** `unproven`: the line is from a version without checksums, and nothing in the database confirms it. */
export type SetAsideReason = 'length' | 'checksum' | 'shape' | 'unproven'

export interface DamagedLine {
  readonly line: RawLine
  readonly reason: SetAsideReason
}

export class SetAside {
  readonly path: string
  readonly #bytesMax: number
  #known: Set<string> | null = null
  #counted = { bytes: -1, changedMs: -1, lines: 0 }

  constructor(folder: string, bytesMax: number) {
    this.path = join(folder, NAME)
    this.#bytesMax = bytesMax
  }

  /** Number of lines in the file. An operator removes lines after dealing with them. Throws if the file cannot be read. */
  get lines(): number {
    const stat = statSync(this.path, { throwIfNoEntry: false })
    if (stat === undefined) return 0
    if (stat.size !== this.#counted.bytes || stat.mtimeMs !== this.#counted.changedMs) {
      const lines = this.#entries().length
      this.#counted = { bytes: stat.size, changedMs: stat.mtimeMs, lines }
    }
    return this.#counted.lines
  }

  /** Adds the lines that are not in the file yet and returns their number. Throws if the file cannot be written or is full. */
  add(path: string, found: readonly DamagedLine[]): number {
    const file = basename(path)
    const places = this.#places()
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0
    let text = ''
    const added: string[] = []
    for (const { line, reason } of found) {
      const place = `${file}:${line.offset}:${crc32(line.bytes)}`
      if (places.has(place)) continue
      if (size + text.length >= this.#bytesMax) throw new Error(`${this.path} is full`)
      const content = isUtf8(line.bytes) ? { text: String(line.bytes) } : { base64: line.bytes.toString('base64') }
      const at = new Date().toISOString()
      text += `${JSON.stringify({ place, line: line.number, length: line.length, reason, at, ...content })}\n`
      added.push(place)
    }
    if (added.length > 0) appendFileSync(this.path, text, { mode: 0o600 })
    for (const place of added) places.add(place)
    return added.length
  }

  #places(): Set<string> {
    if (this.#known !== null) return this.#known
    const places = this.#entries().map(line => /^\{"place":"([^"]+)"/.exec(line)?.[1] ?? '')
    this.#known = new Set(places)
    return this.#known
  }

  #entries(): string[] {
    if (statSync(this.path, { throwIfNoEntry: false }) === undefined) return []
    return readFileSync(this.path, 'latin1')
      .split('\n')
      .filter(line => line !== '')
  }
}
