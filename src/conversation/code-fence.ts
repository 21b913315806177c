/** Removes the code fence that models put around JSON requested in the prompt, from whole text or streamed pieces. */

const FENCE = '```'
/** Maximum number of whitespace characters removed on each side of a closing fence. */
const BLANKS_MAX = 64
const OPENING = /^\s{0,8}```[a-zA-Z]{0,16}[ \t]{0,4}(?:\r?\n)?/
const CLOSING = /\s{0,64}```\s{0,64}$/
/** Matches the beginning of a text that may still turn out to be an opening fence. */
const UNDECIDED = /^\s{0,8}(?:`{0,2}|```[a-zA-Z]{0,16}[ \t]{0,4}\r?)$/

/** Returns the text without its fence, or unchanged if it has none. */
export function withoutFence(text: string): string {
  const opening = OPENING.exec(text)
  return opening === null ? text : text.slice(opening[0].length).replace(CLOSING, '')
}

/** Removes the fence from streamed text. The returned pieces add up to `withoutFence` of the full text. */
export class FenceFilter {
  #state: 'undecided' | 'fenced' | 'plain' = 'undecided'
  #held = ''

  /** Whether the text turned out to have no fence, so that all later pieces pass unchanged. */
  get isPlain(): boolean {
    return this.#state === 'plain'
  }

  push(piece: string): string {
    if (this.#state === 'plain') return piece
    this.#held += piece
    if (this.#state === 'undecided') {
      if (UNDECIDED.test(this.#held)) return ''
      const opening = OPENING.exec(this.#held)
      this.#state = opening === null ? 'plain' : 'fenced'
      if (opening === null) return this.#release(this.#held.length)
      this.#held = this.#held.slice(opening[0].length)
    }
    return this.#release(endOfCertainText(this.#held))
  }

  end(): string {
    const rest = this.#held
    this.#held = ''
    return this.#state === 'fenced' ? rest.replace(CLOSING, '') : withoutFence(rest)
  }

  #release(length: number): string {
    const text = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return text
  }
}

/** Returns the length of the text before a possible closing fence, or the beginning of one, at its end. */
function endOfCertainText(text: string): number {
  const blanks = blanksBefore(text, text.length)
  let end = text.length - blanks
  if (blanks === BLANKS_MAX) return end
  let ticks = 0
  while (ticks < FENCE.length && text[end - 1] === '`') {
    ticks += 1
    end -= 1
  }
  return ticks === 0 ? end : end - blanksBefore(text, end)
}

function blanksBefore(text: string, end: number): number {
  let count = 0
  while (count < BLANKS_MAX && count < end && /\s/.test(text[end - count - 1]!)) count += 1
  return count
}
