/**
 * Reads small mistakes that operators make from bad/<topic>.txt: each has a few lines that edit a copy of good/, a valid
 * catalogue, and the errors that this must cause. README.md explains the format.
 */

import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mistake {
  readonly title: string
  /** The title and the edits, without the expected findings. */
  readonly lines: readonly string[]
  /** The findings as printed, one per line; '' if there are none. */
  readonly expected: string
}

/** Splits a file into its preamble (`head`) and its mistakes. */
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
    const quoted = expected === '' ? ['>'] : expected.split('\n').map(line => `> ${line}`)
    return [...lines, ...quoted, ''].join('\n')
  })
  return `${head}${parts.join('\n')}`
}

/** Applies the mistake's edits to the catalogue in `directory`. Throws unless the passage to change occurs exactly once. */
export function makeMistake(directory: string, { title, lines }: Mistake): void {
  const at = (name: string) => join(directory, name)
  let file = ''
  let removed: string[] = []
  let added: string[] = []
  const edit = () => {
    if (removed.length + added.length === 0) return
    const [before, after] = [removed.join('\n'), added.map(withUnseen).join('\n')]
    if (removed.length === 0) writeFileSync(at(file), after === '' ? '' : `${after}\n`)
    else {
      const text = readFileSync(at(file), 'utf8')
      if (text.split(before).length !== 2)
        throw new Error(`${title}: this passage must occur exactly once in ${file}: ${before}`)
      writeFileSync(
        at(file),
        text.replace(before, () => after),
      )
    }
    removed = []
    added = []
  }
  for (const line of lines.slice(1)) {
    const [verb = '', name = '', , goal = ''] = line.split(' ')
    if (line.startsWith('+')) added.push(line.slice(2))
    else {
      // An edit replaces a run of `-` lines with the run of `+` lines after it, and ends with the latter.
      if (added.length > 0 || verb !== '-') edit()
      if (line.startsWith('-')) removed.push(line.slice(2))
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
