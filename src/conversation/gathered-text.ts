/** Collects text that arrives in pieces, either plain or as written in JSON (see `textWritten`). */

import { type ByteText, joinBytes } from '../lib/byte-text.ts'
import { textWritten } from './output-gatherer.ts'

export class GatheredText {
  #text = ''
  #written: ByteText[] = []

  add(piece: string): void {
    this.#read()
    this.#text += piece
  }

  addWritten(piece: ByteText): void {
    this.#written.push(piece)
  }

  /** The text so far. */
  get text(): string {
    this.#read()
    return this.#text
  }

  #read(): void {
    if (this.#written.length === 0) return
    this.#text += textWritten(joinBytes(this.#written))
    this.#written = []
  }
}
