/** What is undone in the text of a reply: its reasoning leaves its tag, and JSON its code fence. */

import { FenceFilter, withoutFence } from './code-fence.ts'
import type { ToolNames } from './names.ts'
import { splitTag, type TaggedText, TagSplitter } from './reasoning-tag.ts'

export interface Undoing {
  /** Tools that went upstream under other names; null: all kept theirs. */
  readonly names: ToolNames | null
  /** null: the text does not begin with reasoning. */
  readonly tag: string | null
  readonly unwrapsFence: boolean
}

/** For a text that arrives in pieces. */
export class TextUndo {
  readonly #splitter: TagSplitter | null
  readonly #fence: FenceFilter | null

  constructor({ tag, unwrapsFence }: Undoing) {
    this.#splitter = tag === null ? null : new TagSplitter(tag)
    this.#fence = unwrapsFence ? new FenceFilter() : null
  }

  /** Whatever comes is given out as it is. */
  get isPlain(): boolean {
    return this.#splitter?.isPlain !== false && this.#fence?.isPlain !== false
  }

  push(piece: string): TaggedText {
    return this.#unfenced(this.#splitter?.push(piece) ?? { reasoning: '', text: piece })
  }

  /** What is still held when the text ends. */
  end(): TaggedText {
    const { reasoning, text } = this.#unfenced(this.#splitter?.end() ?? { reasoning: '', text: '' })
    return { reasoning, text: text + (this.#fence?.end() ?? '') }
  }

  #unfenced({ reasoning, text }: TaggedText): TaggedText {
    return { reasoning, text: this.#fence === null || text === '' ? text : this.#fence.push(text) }
  }
}

/** The same for a whole text. */
export function undoneText(text: string, { tag, unwrapsFence }: Undoing): TaggedText {
  const split = tag === null ? { reasoning: '', text } : splitTag(text, tag)
  return { reasoning: split.reasoning, text: unwrapsFence ? withoutFence(split.text) : split.text }
}
