/** Creates marker texts for content that must never be stored, and finds them in any common encoding. */

import { randomBytes } from 'node:crypto'

/** Gives each source of content a unique marker text, its canary. */
export class Canaries {
  readonly #texts = new Map<string, string>()

  /** Returns the source's canary, created on first use. */
  at(place: string): string {
    const text = this.#texts.get(place) ?? `canary${randomBytes(9).toString('hex')}`
    this.#texts.set(place, text)
    return text
  }

  /** Adds a text that is not a canary, such as an API key, to the texts to search for. Returns the text. */
  watch(place: string, text: string): string {
    this.#texts.set(place, text)
    return text
  }

  get size(): number {
    return this.#texts.size
  }

  /** The sources whose text is in the haystack, in any letter case and encoding. */
  found(haystack: string): string[] {
    const lower = haystack.toLowerCase()
    return [...this.#texts]
      .filter(([, text]) => disguises(text).some(form => haystack.includes(form) || lower.includes(form)))
      .map(([place]) => place)
  }
}

/**
 * Forms in which the text may occur: unchanged, in lower case, in hexadecimal, and the part of its base64 that neighbouring text
 * cannot change.
 */
function disguises(text: string): string[] {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map(offset => {
    const coded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // Drops the first and last base64 groups, because they also encode neighbouring bytes.
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
