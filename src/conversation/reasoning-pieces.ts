/** Joins the pieces of a reply's reasoning into the single text that a client gets, and records the length of each piece. */

import type { ByteText } from '../lib/byte-text.ts'
import { PIECES_APART } from './marks.ts'
import { lengthWritten } from './output-gatherer.ts'

export class ReasoningPieces {
  /** Lengths of the open part's pieces, in characters. */
  lengths: number[] = []
  #divides = false

  /** `apart`: the text continues that of an earlier part, so a separator comes first. */
  begin({ apart }: { apart: boolean }): void {
    this.lengths = []
    this.#divides = apart
  }

  /** Starts a new piece with the next text. */
  divide(): void {
    this.#divides = true
  }

  /** Whether the next text continues the same piece. */
  get isWithin(): boolean {
    return !this.#divides
  }

  /** Adds text to the open part. Returns it as the client gets it, with a separator if it starts a new piece. */
  add(text: string): string {
    const divides = this.#divides
    this.#divides = false
    if (divides || this.lengths.length === 0) this.lengths.push(0)
    this.#grow(text.length)
    return divides ? PIECES_APART + text : text
  }

  /** Adds text to the same piece. The text is escaped JSON string content, without quotes. */
  addWritten(text: ByteText): void {
    this.#grow(lengthWritten(text))
  }

  #grow(characters: number): void {
    this.lengths[this.lengths.length - 1]! += characters
  }
}
