/** Reads the command line: the command, its words and options. */

import { parseArgs } from 'node:util'
import { type CommandSpec, commandOf } from './command-list.ts'
import { HELP_HINT, unknownCommand } from './help.ts'

/** A usage error: printed without a stack trace, with exit status 2. */
export class UsageError extends Error {}

export function noActiveKey(email: string, keyId: string | number): UsageError {
  return new UsageError(`${email} has no active key ${keyId}; to list the keys, run: key list ${email}`)
}

export interface Command {
  readonly spec: CommandSpec
  readonly words: readonly string[]
  readonly json: boolean
  readonly options: Readonly<Record<string, string | undefined>>
}

/** Parses the command line; null when help was requested. Throws UsageError. */
export function readCommand(argv: readonly string[]): Command | null {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(argv)
  } catch (error) {
    const meant = commandOf(argv)
    throw new UsageError(`${(error as Error).message}\n${meant === undefined ? HELP_HINT : `Usage: ${meant.usage}`}`)
  }
  const { positionals, values } = parsed
  if (values.help || positionals.length === 0 || positionals[0] === 'help') return null
  const spec = commandOf(positionals)
  if (spec === undefined) throw new UsageError(unknownCommand(positionals))
  const words = positionals.slice(spec.name.split(' ').length)
  if (words.length !== spec.words) throw new UsageError(`Usage: ${spec.usage}`)
  const { json, help: _help, ...options } = values
  const foreign = Object.keys(options).find(option => !spec.options.some(allowed => allowed === option))
  if (foreign !== undefined) throw new UsageError(`--${foreign} is not an option of ${spec.name}. Usage: ${spec.usage}`)
  return { spec, words, json: json === true, options }
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: true,
    options: {
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      credit: { type: 'string' },
      label: { type: 'string' },
      reason: { type: 'string' },
      ref: { type: 'string' },
      'retry-after': { type: 'string' },
      memo: { type: 'string' },
      account: { type: 'string' },
      'older-than': { type: 'string' },
      concurrency: { type: 'string' },
      days: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      limit: { type: 'string' },
      per: { type: 'string' },
      expires: { type: 'string' },
      models: { type: 'string' },
      overlap: { type: 'string' },
      mode: { type: 'string' },
    },
  })
}

/** Reads an amount: whole dong, digits only, optionally with a minus sign. Throws UsageError. */
export function readVnd(text: string): number {
  if (!/^-?\d{1,12}$/.test(text))
    throw new UsageError(`${JSON.stringify(text)} is not an amount; write whole dong as digits only, e.g. 50000`)
  return Number(text)
}

/** Reads a whole number of at most nine digits. Throws a UsageError that names the number as `what`. */
export function readCount(text: string, what: string, { min, max }: { min: number; max: number }): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${JSON.stringify(text)} is not ${what}; write a whole number from ${min} to ${max}`)
}
