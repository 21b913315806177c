/**
 * Finds order codes in memos as banks mangle them: case changed, diacritics stripped, spaces and punctuation inserted, the text
 * cut into chunks, the bank's own text prepended and the payer's name appended.
 */

import { isOrderCode } from './order-code.ts'

const MEMO_CHARACTERS_MAX = 2_000
const CODES_MAX = 20
/** Matches at every position, because a code may begin inside something that resembles a code. */
const CANDIDATE = /(?=(ST[0-9A-HJKMNP-TV-Z]{10}))/g

/** Strips everything but letters and digits. */
export function plainMemo(memo: string): string {
  return memo
    .slice(0, MEMO_CHARACTERS_MAX)
    .normalize('NFKD')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '')
}

/** Like `plainMemo`, but also replaces letters that look like digits by those digits. */
export function squeezeMemo(memo: string): string {
  return plainMemo(memo).replaceAll('O', '0').replace(/[IL]/g, '1')
}

/**
 * Returns well-formed codes in order of appearance, without duplicates. Searching the squeezed memo is enough: a code that the
 * bank left in one piece is in one piece there too.
 */
export function findOrderCodes(memo: string): readonly string[] {
  const squeezed = squeezeMemo(memo)
  const found = new Set<string>()
  for (const [, candidate] of squeezed.matchAll(CANDIDATE)) {
    if (isOrderCode(candidate as string)) found.add(candidate as string)
    if (found.size === CODES_MAX) break
  }
  return [...found]
}
