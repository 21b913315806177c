/** Builds a non-streamed reply from a sequence of parts. */

import type { Seal } from './envelope.ts'
import type { FoldedPart, PartStart, ReplySink } from './reply.ts'

export class ReplyFold implements ReplySink {
  readonly parts: FoldedPart[] = []
  #open: PartStart | null = null
  #texts: string[] = []

  start(): void {}

  completeOutput(): void {}

  open(part: PartStart): void {
    this.#open = part
    this.#texts = ['']
  }

  delta(text: string): void {
    this.#texts[this.#texts.length - 1] += text
  }

  startSection(): void {
    this.#texts.push('')
  }

  close(seal: Seal | null = null): void {
    const part = this.#open
    const texts = this.#texts
    this.#open = null
    if (part === null) return
    switch (part.kind) {
      case 'reasoning':
        this.parts.push({ kind: 'reasoning', texts: texts.filter(text => text !== ''), seal })
        return
      case 'call':
        this.parts.push({ ...part, arguments: texts.join('') })
        return
      default:
        this.parts.push({ kind: part.kind, text: texts.join('') })
    }
  }
}
