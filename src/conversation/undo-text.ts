/** Separates a reply's text from reasoning in a tag, and removes the code fence around JSON. */

import { FenceFilter, withoutFence } from './code-fence.ts'
import type { ToolNames } from './names.ts'
import { splitTag, type TaggedText, TagSplitter } from './reasoning-tag.ts'

export interface UndoPlan {
  /** Names of the tools that were renamed for the upstream; null if none were. */
  readonly names: ToolNames | null
  /** Name of the tag that encloses reasoning at the start of the text; null if there is none. */
  readonly tag: string | null
  readonly unwrapsFence: boolean
}

/** Splits streamed text and removes its code fence, piece by piece. */
export class TextUndo {
  readonly #splitter: TagSplitter | null
  readonly #fence: FenceFilter | null

  constructor({ tag, unwrapsFence }: UndoPlan) {
    this.#splitter = tag === null ? null : new TagSplitter(tag)
    this.#fence = unwrapsFence ? new FenceFilter() : null
  }

  /** Whether all further text passes through unchanged. */
  get isPlain(): boolean {
    return this.#splitter?.isPlain !== false && this.#fence?.isPlain !== false
  }

  push(piece: string): TaggedText {
    return this.#unfenced(this.#splitter?.push(piece) ?? { reasoning: '', text: piece })
  }

  /** Call this at the end of the text. Returns the text that was held back. */
  end(): TaggedText {
    const { reasoning, text } = this.#unfenced(this.#splitter?.end() ?? { reasoning: '', text: '' })
    return { reasoning, text: text + (this.#fence?.end() ?? '') }
  }

  #unfenced({ reasoning, text }: TaggedText): TaggedText {
    return { reasoning, text: this.#fence === null || text === '' ? text : this.#fence.push(text) }
  }
}

/** Splits a complete text and removes its code fence. */
export function undoneText(text: string, { tag, unwrapsFence }: UndoPlan): TaggedText {
  const split = tag === null ? { reasoning: '', text } : splitTag(text, tag)
  return { reasoning: split.reasoning, text: unwrapsFence ? withoutFence(split.text) : split.text }
}
