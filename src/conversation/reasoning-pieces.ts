/** Reasoning of a reply whose pieces a client gets as one text: what stands between them, and how long each of them is. */

import type { ByteText } from '../lib/byte-text.ts'
import { PIECES_APART } from './marks.ts'
import { lengthWritten } from './output-gatherer.ts'

export class ReasoningPieces {
  /** Of the part that is open, in characters. */
  lengths: number[] = []
  #divides = false

  /** `apart`: the text goes on behind that of an earlier part. */
  begin({ apart }: { apart: boolean }): void {
    this.lengths = []
    this.#divides = apart
  }

  /** A further piece begins. */
  divide(): void {
    this.#divides = true
  }

  /** What comes next is more of the same piece. */
  get isWithin(): boolean {
    return !this.#divides
  }

  /** What the client is told for more of the part. */
  add(text: string): string {
    const divides = this.#divides
    this.#divides = false
    if (divides || this.lengths.length === 0) this.lengths.push(0)
    this.#grow(text.length)
    return divides ? PIECES_APART + text : text
  }

  /** More of the same piece, as it stands in JSON. */
  addWritten(text: ByteText): void {
    this.#grow(lengthWritten(text))
  }

  #grow(characters: number): void {
    this.lengths[this.lengths.length - 1]! += characters
  }
}
