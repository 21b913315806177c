/** Describes values and schemas in words. */

import type { Schema } from './schemas.ts'

const SHOWN_MAX = 80

/** Matches likely credentials, so that they do not leak from a catalogue file into a log. */
const SECRET = /\b(sk|pk|key|ghp|xai|gsk)[-_][A-Za-z0-9_-]{8,}|(?<=\bBearer )\S{8,}/g

/** Shows a value as JSON, shortened if long, with anything that looks like a credential masked. */
export function show(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'nothing').replace(SECRET, '…')
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text
}

/** Names the first character outside printable ASCII, which may look like an ASCII character; '' if there is none. */
export function oddCharacter(value: unknown): string {
  const character = typeof value === 'string' ? /[^\x20-\x7e]/u.exec(value)?.[0] : undefined
  if (character === undefined) return ''
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `, whose ${show(character)} is U+${code}`
}

/** Describes a value in words that fit into the middle of a sentence. */
export function describe(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return `the text ${show(value)}`
  if (typeof value === 'object') return 'a mapping'
  return show(value)
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  null: 'null',
}

export function expectedType(schema: Schema): string {
  return [schema.type ?? []]
    .flat()
    .map(type => TYPE_WORDS[type] ?? type)
    .join(' or ')
}

/** Suggests what to write, from the schema's example, keys or type. */
export function hint(schema: Schema): string {
  if (schema.examples?.[0] !== undefined || schema.default !== undefined) return `write e.g. ${exampleOf(schema)}`
  if (schema.required !== undefined) return `write the keys ${schema.required.join(', ')} with their values`
  const keys = Object.keys(schema.properties ?? {})
  if (keys.length > 0) return `write keys such as ${keys.slice(0, 4).join(', ')}`
  return schema.type === 'array' ? 'write a list, with `-` before each item' : `write ${expectedType(schema)}`
}

export function exampleOf(schema: Schema | undefined): string {
  const example = schema?.examples?.[0] ?? schema?.default ?? schema?.enum?.[0]
  return example === undefined ? '…' : flow(example)
}

/** Shows a value in YAML's flow style, as operators write it; for display only. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (value === null || typeof value !== 'object') return String(value)
  const members = Object.entries(value).map(([key, member]) => `${key}: ${flow(member)}`)
  return `{ ${members.join(', ')} }`
}
