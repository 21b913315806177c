/** The texts that explain the command line. */

import { CATALOGUE_COMMANDS, COMMANDS, commandOf, groupOf } from './command-list.ts'

export const HELP_HINT = 'To list the commands, run: npm run -s gateway -- --help'

/** What help was requested about: a command, the first word of several, or '' for all. */
export function helpTopic(argv: readonly string[]): string {
  const words = argv.filter(word => !word.startsWith('-') && word !== 'help')
  const [first = ''] = words
  return commandOf(words)?.name ?? (groupOf(first).length > 0 ? first : '')
}

const COLUMNS = 100

/** Explains all commands, or those that begin with the words `only`. */
export function helpText(only = ''): string {
  const commands = [...COMMANDS, ...CATALOGUE_COMMANDS].filter(
    ({ usage }) => only === '' || `${usage} `.startsWith(`${only} `),
  )
  return [
    'Usage: npm run -s gateway -- COMMAND [--json]',
    '',
    ...commands.flatMap(({ usage, purpose }) => [
      ...wrapped(usage, '  ', '    '),
      ...wrapped(purpose, '      ', '      '),
    ]),
    '',
    'With --json, the answer is one JSON object. docs/configuration.md describes the environment.',
    ...(only === ''
      ? ['`key --help` explains the commands that begin with "key", `key set --help` only that one.']
      : []),
  ].join('\n')
}

/** Breaks a text into lines. What stands in brackets stays together. */
function wrapped(text: string, indent: string, further: string): string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.match(/\[[^\]]*\]|\S+/g) ?? []) {
    const isFirst = line.trim() === ''
    if (!isFirst && line.length + 1 + word.length > COLUMNS) {
      lines.push(line)
      line = `${further}${word}`
    } else line += isFirst ? word : ` ${word}`
  }
  return [...lines, line]
}

export function unknownCommand(words: readonly string[]): string {
  const group = groupOf(words[0] as string).map(({ name }) => name)
  return `There is no command ${JSON.stringify(words.join(' '))}. ${group.length > 0 ? `There are: ${group.join(', ')}` : HELP_HINT}`
}
