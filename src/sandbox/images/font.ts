/** A font of 3 by 5 pixels. Each glyph is five octal digits, one per row from the top. */

export const GLYPH_WIDTH = 3
export const GLYPH_HEIGHT = 5

const GLYPHS: Readonly<Record<string, string>> = {
  A: '25755', B: '65656', C: '34443', D: '65556', E: '74647', F: '74644', G: '34553', H: '55755', I: '72227',
  J: '11152', K: '55655', L: '44447', M: '57755', N: '65555', O: '25552', P: '65644', Q: '25573', R: '65655',
  S: '34216', T: '72222', U: '55557', V: '55552', W: '55775', X: '55255', Y: '55222', Z: '71247',
  '0': '75557', '1': '26227', '2': '71747', '3': '71717', '4': '55711', '5': '74717', '6': '74757', '7': '71222',
  '8': '75757', '9': '75717', '.': '00002', ',': '00024', '!': '22202', '?': '71202', ':': '02020', ';': '02024',
  '-': '00700', '+': '02720', '*': '05250', '/': '11244', '(': '12221', ')': '42224', "'": '22000', '"': '55000',
  '=': '07070', '#': '57575', '%': '51245', '<': '12421', '>': '42124', '[': '32223', ']': '62226', _: '00007',
} // biome-ignore format: a table

/** Whether a pixel of a character is drawn; characters without a glyph are blank. */
export function isInk(character: string, column: number, row: number): boolean {
  const bits = Number(GLYPHS[character]?.[row] ?? 0)
  return ((bits >> (GLYPH_WIDTH - 1 - column)) & 1) === 1
}

/** Converts text to characters that the font has: capitals without diacritics. */
export function drawable(text: string): string {
  const bare = text.normalize('NFD').replaceAll(/\p{M}/gu, '')
  return bare.replaceAll(/[đĐ]/g, 'D').replaceAll('×', 'X').replaceAll(/[“”]/g, '"').replaceAll('’', "'").toUpperCase()
}
