/** `generate` uses its cache only if its input and the installed packages are unchanged; `check` never uses it. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createCompiler } from '../../codegen/compile.ts'
import { cachedText } from '../../codegen/text-cache.ts'
import { renderTypes, writeCachedTypes, writeTypes } from '../../codegen/types.ts'
import { createCachedValidate, createValidate } from '../../codegen/validators.ts'
import { compiler, goodTexts } from './support.ts'

const packages = mkdtempSync(join(tmpdir(), 'text-cache-'))
afterAll(() => rmSync(packages, { recursive: true, force: true }))
const install = (versions: string) => writeFileSync(join(packages, '.package-lock.json'), versions)

test('a text is found again for the same input and the same packages only, and only the newest is kept', () => {
  const cached = (input: unknown) => cachedText('types.ts', input, packages)
  cached('a').write('lost')
  expect([cached('a').path, cached('a').read()]).toEqual([null, undefined])
  install('first')
  expect(cached('a').read()).toBeUndefined()
  cached('a').write('made of a')
  expect(cached('a').read()).toBe('made of a')
  expect(cached('b').read()).toBeUndefined()
  expect(cachedText('other.ts', 'a', packages).read()).toBeUndefined()
  install('second')
  expect(cached('a').read()).toBeUndefined()
  cached('a').write('made of a by the second')
  expect(cached('a').read()).toBe('made of a by the second')
  expect(readdirSync(join(packages, '.cache/catalogue'))).toHaveLength(1)
})

test('nothing fails if the cache cannot be written', () => {
  const folder = join(packages, 'full')
  mkdirSync(folder)
  writeFileSync(join(folder, '.package-lock.json'), 'first')
  writeFileSync(join(folder, '.cache'), 'not a folder')
  const cached = cachedText('types.ts', 'a', folder)
  cached.write('lost')
  expect(cached.read()).toBeUndefined()
})

test('cached types are the same as new ones, and other schemas give other types', async () => {
  const { schemas } = compiler
  const made = await renderTypes(schemas, writeTypes)
  expect(await renderTypes(schemas, writeCachedTypes)).toEqual(made)
  expect(await renderTypes(schemas, writeCachedTypes)).toEqual(made)
  const root = { ...schemas.root, description: 'Changed.' }
  const changed = await renderTypes({ ...schemas, root }, writeTypes)
  expect(changed).not.toEqual(made)
  expect(await renderTypes({ ...schemas, root }, writeCachedTypes)).toEqual(changed)
  // Restore the cached types of the real schemas, which this test has overwritten.
  expect(await renderTypes(schemas, writeCachedTypes)).toEqual(made)
})

test('files are validated against the present schemas, also by cached code', () => {
  const { schemas } = compiler
  const family = schemas.family
  const stricter = { ...schemas, family: { ...family, required: [...(family.required ?? []), 'motto'] } }
  const codes = (validate: ReturnType<typeof createValidate>) =>
    createCompiler(stricter, validate)
      .compile(goodTexts())
      .findings.map(({ code, message }) => `${code}: ${message}`)
  const made = codes(createValidate(stricter))
  expect(made).toContain('missing-key: the file has no "motto"')
  expect(codes(createCachedValidate(stricter))).toEqual(made)
  expect(codes(createCachedValidate(stricter))).toEqual(made)
  expect(createCompiler(schemas, createCachedValidate(schemas)).compile(goodTexts()).findings).toEqual([])
})
