/** Suggests corrections for typos: the closest known word, or a whole number. */

/** Says how to correct an unknown word: suggests the closest known word; if none is close, lists the known words. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known)
  if (nearest !== undefined) return `did you mean "${nearest}"?`
  const listed = known.toSorted().slice(0, 40).join(', ')
  return known.length === 0 ? 'remove it' : `write one of: ${listed}`
}

/**
 * The whole number that was probably meant. `50.000` and `1,000,000` are grouped by threes; in `2400.5` and `50.0`, the fraction
 * is dropped. Null if there are no digits.
 */
export function wholeNumberMeant(source: string): number | null {
  const text = source.trim()
  const isGrouped = /^[0-9]{1,3}([.,_' ])[0-9]{3}(\1[0-9]{3})*$/.test(text)
  const whole = isGrouped ? text : text.replace(/[.,][0-9]*$/, '')
  const digits = whole.replace(/[^0-9]/g, '')
  return digits === '' ? null : Number(digits)
}

/**
 * Returns the known word that was probably meant: a word with the same parts in another order, case or separator; else the word
 * with the fewest edits, if they are few enough for a typo; else a word that shares its beginning. Ties go to the first in the
 * list.
 */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const parts = partsOf(word)
  return known.find(candidate => partsOf(candidate) === parts) ?? fewestEdits(word, known) ?? sameBeginning(word, known)
}

/** Normalises a word, so that `contextTokens`, `tokens-context` and `context_tokens` compare equal. */
function partsOf(word: string): string {
  const spaced = word.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return spaced
    .split(/[^a-z0-9]+/)
    .toSorted()
    .join(' ')
}

function fewestEdits(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3))
  let nearest: string | undefined
  let fewest = limit + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (edits < fewest) {
      fewest = edits
      nearest = candidate
    }
  }
  return nearest
}

/** Minimum number of characters that two words must share at the start. */
const BEGINNING_MIN = 3

function sameBeginning(word: string, known: readonly string[]): string | undefined {
  const longer = known.filter(candidate => word.length >= BEGINNING_MIN && candidate.startsWith(word))
  const shorter = known.filter(candidate => candidate.length >= BEGINNING_MIN && word.startsWith(candidate))
  const [shortest] = longer.toSorted((a, b) => a.length - b.length)
  // If several known words begin with the given one, take the shortest, provided that all the others begin with it.
  if (shortest !== undefined && longer.every(candidate => candidate.startsWith(shortest))) return shortest
  return shorter.length === 1 ? shorter[0] : undefined
}

/** Number of insertions, deletions, replacements and swaps of adjacent characters that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, beforeLast[j - 2]! + 1)
      row.push(edits)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
