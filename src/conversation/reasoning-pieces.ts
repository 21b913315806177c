/**
 * Joins a reply's reasoning into the single text that a client gets. A reasoning part may consist of several pieces, such as
 * the summaries of a reasoning item in the responses format. Their lengths are recorded, so that the text can be split again.
 */

import type { ByteText } from '../lib/byte-text.ts'
import { lengthWritten } from './output-gatherer.ts'
import { PIECE_SEPARATOR } from './reasoning-envelope.ts'

export class ReasoningPieces {
  /** Length of each piece of the current part so far, in characters. */
  lengths: number[] = []
  #divides = false

  /** Begins a part. `apart`: an earlier part has text, so a separator comes first. */
  begin({ apart }: { apart: boolean }): void {
    this.lengths = []
    this.#divides = apart
  }

  /** Starts a new piece with the next text. */
  divide(): void {
    this.#divides = true
  }

  /** Whether the next text belongs to the current piece. */
  get isWithin(): boolean {
    return !this.#divides
  }

  /** Adds text to the current part. Returns it as sent to the client: after a separator if it starts a new piece. */
  add(text: string): string {
    const divides = this.#divides
    this.#divides = false
    if (divides || this.lengths.length === 0) this.lengths.push(0)
    this.#grow(text.length)
    return divides ? PIECE_SEPARATOR + text : text
  }

  /** Adds text to the current piece. The text is escaped JSON string content, without quotes. */
  addWritten(text: ByteText): void {
    this.#grow(lengthWritten(text))
  }

  #grow(characters: number): void {
    this.lengths[this.lengths.length - 1]! += characters
  }
}
