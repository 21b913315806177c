/** Collects text that arrives in pieces, either plain or as JSON string content (see `textWritten`). */

import { ascii, type ByteText, characters, concat, encodeText, joinBytes, NO_BYTES } from '../lib/byte-text.ts'
import { textWritten } from './output-gatherer.ts'

/** Matches escapes that JSON.stringify never writes, or only writes for some characters. */
const UNUSUAL = /\\[u/]/

/** Maximum number of pieces to keep before joining them. A piece may be a slice that keeps a whole chunk in memory. */
const PIECES_MAX = 64

export class GatheredText {
  #text = ''
  /** The text that follows `#text`, as escaped JSON string content. */
  #written = NO_BYTES
  /** The text that follows `#written`, in pieces that are not joined yet. */
  #pieces: ByteText[] = []

  add(piece: string): void {
    // Once text has come in written form, more is written, too: what came before is only decoded if it is asked for.
    if (this.#written.length === 0 && this.#pieces.length === 0) this.#text += piece
    else this.addWritten(encodeText(JSON.stringify(piece).slice(1, -1)))
  }

  addWritten(piece: ByteText): void {
    this.#pieces.push(piece)
    if (this.#pieces.length === PIECES_MAX) this.#join()
  }

  get isEmpty(): boolean {
    return this.#text === '' && this.#written.length === 0 && this.#pieces.length === 0
  }

  get text(): string {
    this.#read()
    return this.#text
  }

  /** The text so far as a JSON string, byte for byte as JSON.stringify would write it. */
  get json(): ByteText {
    this.#join()
    if (UNUSUAL.test(characters(this.#written))) this.#read()
    const read = encodeText(JSON.stringify(this.#text))
    return this.#written.length === 0 ? read : concat(read.slice(0, -1), this.#written, ascii('"'))
  }

  #read(): void {
    this.#join()
    if (this.#written.length === 0) return
    this.#text += textWritten(this.#written)
    this.#written = NO_BYTES
  }

  #join(): void {
    if (this.#pieces.length === 0) return
    this.#written = concat(this.#written, joinBytes(this.#pieces))
    this.#pieces = []
  }
}
