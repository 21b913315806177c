/** Texts that stand for what must never be kept, and a search that finds them in any usual disguise. */

import { randomBytes } from 'node:crypto'

/** One canary for each place that content comes from, by the name of the place. */
export class Canaries {
  readonly #texts = new Map<string, string>()

  /** A new one each time a place is named for the first time; the same afterwards. */
  at(place: string): string {
    const text = this.#texts.get(place) ?? `canary${randomBytes(9).toString('hex')}`
    this.#texts.set(place, text)
    return text
  }

  /** Watches for a text that was not made here, such as an API key. */
  watch(place: string, text: string): string {
    this.#texts.set(place, text)
    return text
  }

  get size(): number {
    return this.#texts.size
  }

  /** Names of the places whose text is in the haystack, whatever its case and coding. */
  found(haystack: string): string[] {
    const lower = haystack.toLowerCase()
    return [...this.#texts]
      .filter(([, text]) => disguises(text).some(form => haystack.includes(form) || lower.includes(form)))
      .map(([place]) => place)
  }
}

/** As it is, in lower case, and the parts that survive hexadecimal and base64 at any offset. */
function disguises(text: string): string[] {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map(offset => {
    const coded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first and the last group mix with their neighbours.
    return coded.slice(offset === 0 ? 0 : 4, -4)
  })
  return [
    text,
    text.toLowerCase(),
    bytes.toString('hex'),
    ...base64,
    ...base64.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}
