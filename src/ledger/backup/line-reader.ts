/** Splits a backup into lines and blocks of rows. Reading blocks is fast even if a table has millions of rows. */

import { BackupError, END_OF_TABLE } from './file.ts'

const NEWLINE = 10
export const END_LINE = Buffer.from(`${END_OF_TABLE}\n`)
const LAST_ROW_END = Buffer.from(`\n${END_OF_TABLE}\n`)

/**
 * Reads JSON lines one by one, and rows in blocks. Only `\n` ends a line: text in a row may contain other characters that some
 * readers take for line ends.
 */
export class LineReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next line, including its newline. Rejects with BackupError at the end of the file. */
  async line(): Promise<Buffer> {
    for (;;) {
      const end = this.#rest.indexOf(NEWLINE) + 1
      if (end > 0) return this.#take(end)
      await this.#readOn()
    }
  }

  /** Yields a table's rows in blocks of whole lines, then skips the line that ends the table. */
  async *rows(): AsyncGenerator<Buffer> {
    for (;;) {
      const end = this.#rest.subarray(0, END_LINE.length).equals(END_LINE) ? 0 : this.#rest.indexOf(LAST_ROW_END)
      if (end !== -1) {
        const rows = this.#take(end === 0 ? 0 : end + 1)
        if (rows.length > 0) yield rows
        this.#take(END_LINE.length)
        return
      }
      const rows = this.#take(this.#rest.lastIndexOf(NEWLINE) + 1)
      if (rows.length > 0) yield rows
      await this.#readOn()
    }
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }

  async #readOn(): Promise<void> {
    const { value, done } = await this.#chunks.next()
    if (done) throw new BackupError('The file is truncated; use another copy.')
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }
}
