/** The catalogue means the same to every YAML parser. Many tools use YAML 1.1, which reads `no` and `on` as booleans. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readSchemas, type Schema } from '../../codegen/schemas.ts'

const folder = join(import.meta.dirname, '../../catalogue')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.yaml'))

/** Turns Date objects back into strings, because YAML 1.1 parsers read `2026-01-31` as a date. */
function withoutDates(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().slice(0, 10)
  if (Array.isArray(value)) return value.map(withoutDates)
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, withoutDates(member)]))
  return value
}

/** Parses mappings as Maps, which preserve non-string keys. */
function readAs(version: '1.1' | '1.2', text: string): unknown {
  return withoutDates(parse(text, { version, mapAsMap: true }))
}

test.each(files)('%s means the same in YAML 1.1 and 1.2', file => {
  const text = readFileSync(join(folder, file), 'utf8')
  expect(readAs('1.1', text)).toEqual(readAs('1.2', text))
})

test('words that the two versions read differently are detected', () => {
  for (const text of ['a: no', 'on: a', 'a: [y, off]', 'a: 1_000', 'a: 12:30', 'a: 010']) {
    expect(readAs('1.1', text), text).not.toEqual(readAs('1.2', text))
  }
})

function wordsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wordsOf)
  if (value === null || typeof value !== 'object') return []
  const { properties, enum: words } = value as Schema
  const own = [...Object.keys(properties ?? {}), ...(words ?? []).filter(word => typeof word === 'string')]
  return [...own, ...Object.values(value).flatMap(wordsOf)]
}

test('YAML 1.1 reads every key and word of the catalogue’s schemas as text', () => {
  const words = [...new Set(Object.values(readSchemas()).flatMap(schema => wordsOf(schema)))]
  expect(words.length).toBeGreaterThan(200)
  expect(words.filter(word => parse(word, { version: '1.1' }) !== word)).toEqual([])
})
