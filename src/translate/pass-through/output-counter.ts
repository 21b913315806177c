/**
 * Counts the output of a stream that breaks off before its usage came. It holds pieces of text just long enough to count
 * them and drops them with the stream.
 */

/** Characters gathered before they are counted: bounds the memory of a stream. */
const GATHERED_CHARACTERS_MAX = 16_384

export type CountTokens = (text: string) => number

export class OutputCounter {
  readonly #countTokens: CountTokens
  #pieces: string[] = []
  #characters = 0
  #tokens = 0

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens
  }

  /** A piece of JSON string content as it stands between its quotes, in latin1 text of UTF-8 bytes. */
  append(written: string): void {
    if (written === '') return
    this.#pieces.push(written)
    this.#characters += written.length
    if (this.#characters > GATHERED_CHARACTERS_MAX) this.#fold()
  }

  tokens(): number {
    this.#fold()
    return this.#tokens
  }

  #fold(): void {
    if (this.#pieces.length === 0) return
    const bytes = Buffer.from(this.#pieces.join(''), 'latin1')
    this.#pieces = []
    this.#characters = 0
    this.#tokens += this.#countTokens(decode(bytes.toString('utf8')))
  }
}

function decode(written: string): string {
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written
  }
}

/** The content of the JSON string that follows `marker` in `text`, as written; '' when it is absent. */
export function stringAfter(text: string, marker: string): string {
  const at = text.indexOf(marker)
  if (at < 0) return ''
  const start = at + marker.length
  let end = text.indexOf('"', start)
  while (end > 0 && oddBackslashesBefore(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? '' : text.slice(start, end)
}

function oddBackslashesBefore(text: string, at: number): boolean {
  let count = 0
  while (text.charCodeAt(at - 1 - count) === 92) count++
  return count % 2 === 1
}
