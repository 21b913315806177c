/** Draws a simulated image: coloured bands with a caption. */

import { drawable, GLYPH_HEIGHT, GLYPH_WIDTH, isInk } from './font.ts'
import type { Bitmap } from './png.ts'

const BANDS = 12
const INK = BANDS
const LINES_MAX = 14
const COLUMNS = 26

export interface PictureText {
  readonly width: number
  readonly height: number
  /** The image's prompt, which determines its colours. */
  readonly prompt: string
  /** Lines of the caption, drawn from the top and wrapped between words. Text that does not fit is left out. */
  readonly lines: readonly string[]
}

export function drawPicture(picture: PictureText): Bitmap {
  const { width, height } = picture
  const bitmap: Bitmap = { width, height, pixels: new Uint8Array(width * height), palette: paletteOf(picture.prompt) }
  for (let row = 0; row < height; row += 1) {
    bitmap.pixels.fill(Math.floor((row * BANDS) / height), row * width, (row + 1) * width)
  }
  const lines = picture.lines.flatMap(line => wrap(drawable(line), COLUMNS)).slice(0, LINES_MAX)
  const scale = Math.max(
    1,
    Math.floor(Math.min(width / ((COLUMNS + 2) * (GLYPH_WIDTH + 1)), height / ((LINES_MAX + 2) * (GLYPH_HEIGHT + 2)))),
  )
  for (const [index, line] of lines.entries())
    drawLine(bitmap, line, { scale, top: (index + 1) * (GLYPH_HEIGHT + 2) * scale })
  return bitmap
}

function drawLine(bitmap: Bitmap, line: string, { scale, top }: { scale: number; top: number }): void {
  for (const [place, character] of [...line].entries()) {
    const left = (place + 1) * (GLYPH_WIDTH + 1) * scale
    for (let row = 0; row < GLYPH_HEIGHT; row += 1) {
      for (let column = 0; column < GLYPH_WIDTH; column += 1) {
        if (isInk(character, column, row))
          fillSquare(bitmap, { left: left + column * scale, top: top + row * scale, side: scale })
      }
    }
  }
}

function fillSquare({ pixels, width, height }: Bitmap, square: { left: number; top: number; side: number }): void {
  const right = Math.min(width, square.left + square.side)
  const bottom = Math.min(height, square.top + square.side)
  for (let row = square.top; row < bottom; row += 1) {
    if (square.left < right) pixels.fill(INK, row * width + square.left, row * width + right)
  }
}

/** Dark shades of similar hue for the bands, and a light colour for the text. */
function paletteOf(prompt: string): [number, number, number][] {
  let hue = 0
  for (const character of prompt.slice(0, 2_000)) hue = (hue * 31 + character.codePointAt(0)!) % 360
  const bands = Array.from({ length: BANDS }, (_, band) => colour(hue + band * 4, 0.25 + (0.3 * band) / BANDS))
  return [...bands, [255, 250, 235]]
}

function colour(hue: number, lightness: number): [number, number, number] {
  const channel = (shift: number) => {
    const place = (shift + hue / 30) % 12
    return Math.round(
      255 * (lightness - 0.5 * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(place - 3, 9 - place, 1))),
    )
  }
  return [channel(0), channel(8), channel(4)]
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text
    .split(/\s+/)
    .filter(part => part !== '')
    .slice(0, 400)) {
    const wanted = line === '' ? word : `${line} ${word}`
    if (wanted.length <= columns) line = wanted
    else {
      if (line !== '') lines.push(line)
      line = word.slice(0, columns)
    }
  }
  return line === '' ? lines : [...lines, line]
}
