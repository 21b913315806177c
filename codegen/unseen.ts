/** Finds invisible characters: keys and names that contain one are not what they look like. */

/** Control and format characters, all spaces but the plain one, the blank letters of Hangul, and a CR that ends no line. */
const UNSEEN = /(?![\t\n\r ])[\p{Cc}\p{Cf}\p{Z}\u115F\u1160\u3164\uFFA0]|\r(?!\n)/gu

/** The first invisible character, ignoring a leading byte order mark. */
export function findUnseen(text: string): { readonly character: string; readonly index: number } | null {
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (character !== '\uFEFF' || index > 0) return { character, index }
  }
  return null
}
