/** Reads a spool file line by line, in bounded memory whatever the file contains. */

import { closeSync, openSync, readSync } from 'node:fs'
import { LINE_BYTES_MAX, readHeader } from './spool-line.ts'

const CHUNK_BYTES = 256 * 1024
const NEWLINE = 10

export interface RawLine {
  /** The line's number in the file, counted from 1. */
  readonly number: number
  readonly offset: number
  /** Length of the complete line in bytes, without its newline. */
  readonly length: number
  /** The line; only its beginning if it is longer than any valid line. */
  readonly bytes: Buffer
}

/** Yields all non-empty lines, without their newlines. Throws file system errors. */
export function* readLines(path: string): Generator<RawLine> {
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let kept = Buffer.alloc(0)
    let length = 0
    let offset = 0
    let number = 1
    const take = (part: Buffer): void => {
      length += part.length
      // Keep one byte more than the longest valid line has, so that `readLine` can tell from the length that a line is too long.
      kept = Buffer.concat([kept, part.subarray(0, LINE_BYTES_MAX + 1 - kept.length)])
    }
    for (;;) {
      const read = chunk.subarray(0, readSync(file, chunk, 0, CHUNK_BYTES, null))
      let begin = 0
      for (let end = read.indexOf(NEWLINE); end !== -1; end = read.indexOf(NEWLINE, begin)) {
        take(read.subarray(begin, end))
        if (length > 0) yield { number, offset, length, bytes: kept }
        offset += length + 1
        number++
        kept = Buffer.alloc(0)
        length = 0
        begin = end + 1
      }
      if (read.length === 0) break
      take(read.subarray(begin))
    }
    // A crash may have cut off the end of the last line.
    if (length > 0) yield { number, offset, length, bytes: kept }
  } finally {
    closeSync(file)
  }
}

/** Returns the id of the database for which the file was written; null if its first line is not an intact header. */
export function databaseOf(path: string): string | null {
  for (const { bytes } of readLines(path)) return readHeader(bytes)
  return null
}
