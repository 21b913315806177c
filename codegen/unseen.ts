/** Finds invisible characters: keys and names that contain one are not what they look like. */

const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00A0\u202F]/gu

/** The first invisible character, ignoring a leading byte order mark. */
export function findUnseen(text: string): { readonly character: string; readonly index: number } | null {
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (character !== '\uFEFF' || index > 0) return { character, index }
  }
  return null
}
