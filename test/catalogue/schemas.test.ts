/** The catalogue's schemas describe every key, work in editors, and match docs/catalogue.md. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { CODES } from '../../codegen/codes.ts'
import { findReference, readSchemas, type Schema, type SchemaName } from '../../codegen/schemas.ts'

const root = join(import.meta.dirname, '../..')
const schemas = readSchemas()

function walk(schema: Schema, path: string, visit: (schema: Schema, path: string, parent: Schema) => void): void {
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    visit(property, `${path}.${key}`, schema)
    walk(property, `${path}.${key}`, visit)
  }
  for (const [key, definition] of Object.entries(schema.definitions ?? {})) walk(definition, `${path}#${key}`, visit)
  for (const option of schema.oneOf ?? []) walk(option, path, visit)
  if (schema.items !== undefined) walk(schema.items, `${path}[]`, visit)
}

const AUTHORED: readonly SchemaName[] = ['catalogue', 'upstreams', 'family', 'dialect', 'rule', 'common']

test('every key that operators write has a description, and an example, a default, words or keys of its own', () => {
  const lacking: string[] = []
  for (const name of AUTHORED) {
    walk(schemas[name], name, (property, path, parent) => {
      const schema = findReference(schemas, property) as Schema
      if (schema.const !== undefined) return
      const shows = schema.examples ?? schema.default ?? schema.enum ?? schema.properties ?? schema.items
      // An object's description also covers its properties, such as the budgets for each effort level.
      const isExplained =
        schema.description !== undefined || (parent !== schemas[name] && parent.description !== undefined)
      if (!isExplained || shows === undefined) lacking.push(path)
    })
  }
  expect(lacking.filter(path => path !== 'upstreams.upstreams')).toEqual([])
})

test('every schema is draft-07, which editors support', () => {
  for (const schema of Object.values(schemas)) expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#')
})

test('every YAML file names its schema for editors, and that schema exists', () => {
  const folder = join(root, 'catalogue')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.yaml'))
  expect(files.length).toBeGreaterThan(10)
  for (const file of files) {
    const [line = ''] = readFileSync(join(folder, file), 'utf8').split('\n')
    const schema = /^# yaml-language-server: \$schema=(.+)$/.exec(line)?.[1]
    expect([file, schema !== undefined && existsSync(join(folder, dirname(file), schema))]).toEqual([file, true])
  }
})

test('the documentation has a row for every finding and every key', () => {
  const text = readFileSync(join(root, 'docs/catalogue.md'), 'utf8')
  const rows = text.split('\n').filter(line => line.startsWith('| `'))
  for (const [code, { severity, meaning }] of Object.entries(CODES)) {
    expect(rows).toContain(`| \`${code}\` | ${severity} | ${meaning} |`)
  }
  for (const name of ['dialect', 'family', 'catalogue'] as const) {
    for (const key of Object.keys(schemas[name].properties ?? {})) {
      expect(rows.filter(row => row.startsWith(`| \`${key}\` |`)).length, key).toBeGreaterThan(0)
    }
  }
})
