/** Lays out the type generator's unformatted output like the project's formatter, and makes every property and list read-only. */

export interface Declaration {
  readonly name: string
  /** The declaration with its comment, without a final newline. */
  readonly text: string
  /** Capitalised words of the declaration outside comments, which include every type that it mentions. */
  readonly mentions: readonly string[]
}

const WIDTH = 120

/** Formats the declarations in `text`, and returns them in their order. */
export function layOutTypes(text: string): readonly Declaration[] {
  const lines = layOut(text.replaceAll('\r\n', '\n').replace(REFERENCE_NOTE, ''))
  const declarations = lines
    .join('\n')
    .replace(/\{\n *\}/g, '{}')
    .replace(LONE_COMMENT, '$1/** $2 */')
    .replace(DECLARATION, spaceOut)
    .trim()
  return declarations.split('\n\n').map(block => {
    const code = block.replace(COMMENT, '')
    const name = /^export (?:interface|type) (\w+)/m.exec(code)?.[1] ?? ''
    return { name, text: block, mentions: code.match(/\b[A-Z]\w*/g) ?? [] }
  })
}

/** Matches the note that the type generator adds to every comment. */
const REFERENCE_NOTE = /( \*\s*\n)? \* This interface was referenced by [^\n]*\n \* via the `definition` [^\n]*\n/g

/** Matches a one-line comment that is spread over three lines. */
const LONE_COMMENT = /^( *)\/\*\*\n *\* (.*)\n *\*\/$/gm

const COMMENT = /\/\*\*[\s\S]*?\*\//g

const DECLARATION = /\n(\/\*\*|export)/g

/** Puts a blank line before each declaration, or before its comment. */
function spaceOut(match: string, word: string, offset: number, text: string): string {
  const isCommented = word === 'export' && text.slice(0, offset).endsWith('*/')
  return isCommented ? match : `\n${match}`
}

/** Indents declarations, and makes every property and list read-only. */
function layOut(text: string): string[] {
  let depth = 0
  let isComment = false
  const lines: string[] = []
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    if (line === '' && !isComment) continue
    if (!isComment && /^[}\])]/.test(line)) depth--
    const indent = '  '.repeat(depth)
    if (isComment || line.startsWith('/*')) lines.push((indent + (line.startsWith('*') ? ' ' : '') + line).trimEnd())
    else lines.push(layOutLine(line, indent, depth > 0))
    if (line.startsWith('/*')) isComment = true
    if (line.endsWith('*/')) isComment = false
    else if (!isComment && /[{[(]$/.test(line)) depth++
  }
  return lines
}

/** Lays out one line of a declaration; only properties and aliases change. */
function layOutLine(line: string, indent: string, isInside: boolean): string {
  const property = isInside ? /^("[^"]+"|\w+|\[k: string\])(\??): (.*)$/.exec(line) : null
  const alias = /^(export type \w+ =) (.*)$/.exec(line)
  const quoted = (text: string) => text.replace(/"([^"']*)"/g, "'$1'")
  if (property !== null) {
    const [, key = '', optional = '', type = ''] = property
    const name = /^"[A-Za-z_$][\w$]*"$/.test(key) ? key.slice(1, -1) : quoted(key)
    return layOutType(`${indent}readonly ${name}${optional}:`, quoted(type), indent)
  }
  if (alias !== null) return layOutType(`${indent}${alias[1]}`, quoted(alias[2] as string), indent)
  return indent + readonlyLists(quoted(line))
}

/** Lays out a type on one line if it fits, else with one union member per line. */
function layOutType(head: string, type: string, indent: string): string {
  const plain = readonlyLists(withoutParentheses(type))
  if (plain.endsWith('{') || head.length + 1 + plain.length <= WIDTH) return `${head} ${plain}`
  const list = /^readonly \((.*)\)\[\]$/.exec(plain)?.[1]
  const members = unionMembers(list ?? plain).map(member => `\n${indent}  | ${member}`)
  if (list !== undefined) return `${head} readonly (${members.join('')}\n${indent})[]`
  return members.length > 1 ? head + members.join('') : `${head} ${plain}`
}

/** `(a | b)` → `a | b`, if the parentheses enclose the whole type. */
function withoutParentheses(type: string): string {
  return type.startsWith('(') && closingOf(type) === type.length - 1 ? type.slice(1, -1) : type
}

function closingOf(type: string): number {
  let depth = 0
  for (const [at, character] of [...type].entries()) {
    if (character === '(') depth++
    if (character === ')' && --depth === 0) return at
  }
  return -1
}

/** Splits a union type into its members, ignoring any `|` inside brackets. */
function unionMembers(type: string): string[] {
  const members = ['']
  let depth = 0
  for (const part of type.split(/( \| |[({[<]|[)}\]>])/)) {
    if (/^[({[<]$/.test(part)) depth++
    if (/^[)}\]>]$/.test(part)) depth--
    if (part === ' | ' && depth === 0) members.push('')
    else members[members.length - 1] += part
  }
  return members
}

function readonlyLists(line: string): string {
  return line.replace(/(\([^()]*\)|\b[A-Za-z]\w*)\[\]/g, 'readonly $1[]')
}
