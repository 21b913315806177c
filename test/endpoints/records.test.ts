/** Every endpoint has one record of facts, and other lists of endpoints agree with these records. */

import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ENDPOINT_FACTS, ENDPOINT_ORDER } from '../../src/catalogue/endpoints.ts'
import { endpointOf, FREE_ENDPOINTS, MODEL_ENDPOINTS } from '../../src/endpoints/index.ts'
import { SCHEMAS } from '../../src/http/openapi/schemas.ts'

const schemaOf = (name: string) => JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'))

test('every endpoint has one record, in the order in which the schema lists them', () => {
  expect(MODEL_ENDPOINTS.map(({ name }) => name)).toEqual([...ENDPOINT_ORDER])
  expect(schemaOf('common').definitions.endpoint.enum).toEqual([...ENDPOINT_ORDER])
  for (const name of ENDPOINT_ORDER) expect(endpointOf(name)).toMatchObject({ name, ...ENDPOINT_FACTS[name] })
})

test('an upstream can name a path for every endpoint', () => {
  const text = readFileSync('schemas/upstreams.schema.json', 'utf8')
  expect(ENDPOINT_ORDER.filter(name => !text.includes(`"${name}": { "$ref": "#/definitions/path" }`))).toEqual([])
})

test('codes in the usage table are never reused or removed; new ones are only added', () => {
  expect(Object.fromEntries(MODEL_ENDPOINTS.map(({ name, code }) => [name, code]))).toEqual({
    messages: 1,
    chat_completions: 2,
    images_generations: 3,
    images_edits: 4,
    audio_speech: 5,
    responses: 6,
  })
})

test('paths and operations are distinct, and the API description covers every body', () => {
  const all = [...MODEL_ENDPOINTS, ...FREE_ENDPOINTS]
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length)
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length)
  const named = all.flatMap(({ operation }) => [operation?.request, operation?.reply]).filter(name => name != null)
  expect(named.filter(name => !(name in SCHEMAS))).toEqual([])
})

test('a new endpoint touches at most eight files, and the list of them is correct', () => {
  const readme = readFileSync('src/endpoints/README.md', 'utf8')
  const files = [...readme.matchAll(/^\d+\. `([^`]+)`/gm)].map(match => match[1] as string)
  expect(files.length).toBeGreaterThan(0)
  expect(files.length).toBeLessThanOrEqual(8)
  expect(files.filter(file => !existsSync(file.replace('<name>', 'messages')))).toEqual([])
})
