/**
 * Small mistakes that operators make, each a few lines in bad/<matter>.txt: the change to the good catalogue, and the errors that
 * it must cause. README.md explains the format.
 */

import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mistake {
  readonly title: string
  /** The lines of the mistake, without the expected findings. */
  readonly lines: readonly string[]
  /** The findings as printed, one per line; '' if there are none. */
  readonly expected: string
}

/** Splits a file into the text before the first mistake and the mistakes. */
export function parseMistakes(text: string): { head: string; mistakes: Mistake[] } {
  const [head = '', ...parts] = text.split(/^(?=## )/m)
  const mistakes = parts.map((part): Mistake => {
    const lines = part.trimEnd().split('\n')
    const expected = lines.filter(line => line.startsWith('> ')).map(line => line.slice(2))
    const rest = lines.filter(line => !line.startsWith('>'))
    return { title: (lines[0] ?? '').slice(3), lines: rest, expected: expected.join('\n') }
  })
  return { head, mistakes }
}

export function printMistakes(head: string, mistakes: readonly Mistake[]): string {
  const parts = mistakes.map(({ lines, expected }) => {
    const said = expected === '' ? ['>'] : expected.split('\n').map(line => `> ${line}`)
    return [...lines, ...said, ''].join('\n')
  })
  return `${head}${parts.join('\n')}`
}

/** Makes the mistake in a copy of the good catalogue. Throws unless the passage to change occurs exactly once. */
export function makeMistake(directory: string, { title, lines }: Mistake): void {
  const at = (name: string) => join(directory, name)
  let file = ''
  let was: string[] = []
  let is: string[] = []
  const edit = () => {
    if (was.length + is.length === 0) return
    const [before, after] = [was.join('\n'), is.map(withUnseen).join('\n')]
    if (was.length === 0) writeFileSync(at(file), after === '' ? '' : `${after}\n`)
    else {
      const text = readFileSync(at(file), 'utf8')
      if (text.split(before).length !== 2)
        throw new Error(`${title}: this passage must occur exactly once in ${file}: ${before}`)
      writeFileSync(
        at(file),
        text.replace(before, () => after),
      )
    }
    was = []
    is = []
  }
  for (const line of lines.slice(1)) {
    const [verb = '', name = '', , goal = ''] = line.split(' ')
    if (line.startsWith('+')) is.push(line.slice(2))
    else {
      // After `+` lines, any other line starts the next edit.
      if (is.length > 0 || verb !== '-') edit()
      if (line.startsWith('-')) was.push(line.slice(2))
      else if (verb === 'in') file = name
      else if (verb === 'delete') rmSync(at(name), { recursive: true })
      else if (verb === 'folder') mkdirSync(at(name), { recursive: true })
      else if (verb === 'rename') renameSync(at(name), at(goal))
      else if (verb === 'copy') cpSync(at(name), at(goal), { recursive: true })
      else if (verb === 'link') symlinkSync(goal, at(name))
      else if (verb === 'encode') writeFileSync(at(name), readFileSync(at(name), 'utf8'), goal as BufferEncoding)
      else if (line !== '') throw new Error(`${title}: this line is not an edit: "${line}"`)
    }
  }
  edit()
}

/** Decodes `\t`, `\r` and `\u{…}`, which stand for characters that are invisible or that editors would change. */
function withUnseen(text: string): string {
  return text
    .replaceAll('\\t', '\t')
    .replaceAll('\\r', '\r')
    .replace(/\\u\{([0-9a-f]+)\}/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)))
}
