/**
 * Measures the shares of punctuation, capitals and accented letters in a text, because tokenizers differ most in how they treat
 * them.
 */

export interface TextShares {
  /** Fraction of punctuation among the visible characters of ASCII text, 0 to 1. */
  readonly symbols: number
  /** Fraction of capitals among Latin letters, 0 to 1. */
  readonly capitals: number
  /** Fraction of accented letters among Latin letters, 0 to 1. */
  readonly accents: number
}

/** Number of characters examined; a longer text is sampled evenly. */
const SEEN_CHARACTERS_MAX = 50_000

export function textShares(text: string): TextShares {
  const step = Math.max(1, Math.ceil(text.length / SEEN_CHARACTERS_MAX))
  let [visible, symbols, small, capitals, accented] = [0, 0, 0, 0, 0]
  for (let at = 0; at < text.length; at += step) {
    const code = text.charCodeAt(at)
    if (code <= 32) continue
    visible++
    if (code >= 128) {
      if (isAccented(code)) accented++
    } else if (code >= 97 && code <= 122) small++
    else if (code >= 65 && code <= 90) capitals++
    else if (code < 48 || code > 57) symbols++
  }
  const letters = Math.max(1, small + capitals + accented)
  return { symbols: symbols / Math.max(1, visible), capitals: capitals / letters, accents: accented / letters }
}

/** Matches combining marks and Latin letters with diacritics, including Vietnamese. */
function isAccented(code: number): boolean {
  return (code >= 0xc0 && code <= 0x24f) || (code >= 0x300 && code <= 0x36f) || (code >= 0x1e00 && code <= 0x1eff)
}
