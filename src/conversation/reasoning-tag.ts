/**
 * Separates a reply's text from the reasoning that some models put in a tag at the start of the text. Works on complete and
 * streamed text.
 */

export interface TaggedText {
  readonly reasoning: string
  readonly text: string
}

/** Maximum number of whitespace characters before the opening tag. */
const BLANKS_MAX = 16

/** Splits streamed text. Text that does not start with the tag passes through unchanged. */
export class TagSplitter {
  readonly #opening: string
  readonly #closing: string
  #state: 'undecided' | 'reasoning' | 'text' = 'undecided'
  #held = ''
  /** Whether to drop leading whitespace from the next piece, e.g. between the closing tag and the text. */
  #trims = false

  constructor(tag: string) {
    this.#opening = `<${tag}>`
    this.#closing = `</${tag}>`
  }

  /** Whether the reasoning is over, so that all further text passes through unchanged. */
  get isPlain(): boolean {
    return this.#state === 'text' && !this.#trims
  }

  push(piece: string): TaggedText {
    if (this.#state === 'text') return { reasoning: '', text: this.#trim(piece) }
    this.#held += piece
    if (this.#state === 'undecided' && !this.#decide()) return NOTHING
    return this.#state === 'reasoning' ? this.#split() : { reasoning: '', text: this.#take(this.#held.length) }
  }

  /** Call this at the end of the text. Returns the text that was held back. */
  end(): TaggedText {
    const rest = this.#take(this.#held.length)
    return this.#state === 'reasoning' ? { reasoning: rest, text: '' } : { reasoning: '', text: rest }
  }

  #decide(): boolean {
    const start = this.#held.trimStart()
    const blanks = this.#held.length - start.length
    if (blanks <= BLANKS_MAX && start.startsWith(this.#opening)) {
      this.#state = 'reasoning'
      this.#held = start.slice(this.#opening.length)
      return true
    }
    if (blanks <= BLANKS_MAX && this.#opening.startsWith(start)) return false
    this.#state = 'text'
    return true
  }

  #split(): TaggedText {
    const end = this.#held.indexOf(this.#closing)
    if (end < 0) return { reasoning: this.#take(this.#held.length - openEnd(this.#held, this.#closing)), text: '' }
    const reasoning = this.#take(end)
    const text = this.#take(this.#held.length).slice(this.#closing.length)
    this.#state = 'text'
    this.#trims = true
    return { reasoning, text: this.#trim(text) }
  }

  #trim(text: string): string {
    if (!this.#trims) return text
    const trimmed = text.trimStart()
    if (trimmed !== '') this.#trims = false
    return trimmed
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return taken
  }
}

export function splitTag(text: string, tag: string): TaggedText {
  const splitter = new TagSplitter(tag)
  const first = splitter.push(text)
  const rest = splitter.end()
  return { reasoning: first.reasoning + rest.reasoning, text: first.text + rest.text }
}

const NOTHING: TaggedText = { reasoning: '', text: '' }

/** Length of the longest suffix of `text` that is a prefix of `mark`. */
function openEnd(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length
  }
  return 0
}
