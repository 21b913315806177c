/** `generate` uses its cache only if its input and the installed packages are unchanged; `check` never uses it. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createCompiler } from '../../codegen/compile.ts'
import { keptFor } from '../../codegen/kept.ts'
import { renderTypes, writeKeptTypes, writeTypes } from '../../codegen/types.ts'
import { createKeptValidate, createValidate } from '../../codegen/validators.ts'
import { compiler, goodTexts } from './support.ts'

const packages = mkdtempSync(join(tmpdir(), 'kept-'))
afterAll(() => rmSync(packages, { recursive: true, force: true }))
const install = (versions: string) => writeFileSync(join(packages, '.package-lock.json'), versions)

test('a text is found again for the same input and the same packages only, and only the newest is kept', () => {
  const kept = (input: unknown) => keptFor('types.ts', input, packages)
  kept('a').write('lost')
  expect([kept('a').path, kept('a').read()]).toEqual([null, undefined])
  install('first')
  expect(kept('a').read()).toBeUndefined()
  kept('a').write('made of a')
  expect(kept('a').read()).toBe('made of a')
  expect(kept('b').read()).toBeUndefined()
  expect(keptFor('other.ts', 'a', packages).read()).toBeUndefined()
  install('second')
  expect(kept('a').read()).toBeUndefined()
  kept('a').write('made of a by the second')
  expect(kept('a').read()).toBe('made of a by the second')
  expect(readdirSync(join(packages, '.cache/catalogue'))).toHaveLength(1)
})

test('nothing fails if the cache cannot be written', () => {
  const folder = join(packages, 'full')
  mkdirSync(folder)
  writeFileSync(join(folder, '.package-lock.json'), 'first')
  writeFileSync(join(folder, '.cache'), 'not a folder')
  const kept = keptFor('types.ts', 'a', folder)
  kept.write('lost')
  expect(kept.read()).toBeUndefined()
})

test('cached types are the same as new ones, and other schemas give other types', async () => {
  const { schemas } = compiler
  const made = await renderTypes(schemas, writeTypes)
  expect(await renderTypes(schemas, writeKeptTypes)).toEqual(made)
  expect(await renderTypes(schemas, writeKeptTypes)).toEqual(made)
  const root = { ...schemas.root, description: 'Changed.' }
  const changed = await renderTypes({ ...schemas, root }, writeTypes)
  expect(changed).not.toEqual(made)
  expect(await renderTypes({ ...schemas, root }, writeKeptTypes)).toEqual(changed)
  // Restore the cached types of the real schemas, which this test has overwritten.
  expect(await renderTypes(schemas, writeKeptTypes)).toEqual(made)
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
  expect(codes(createKeptValidate(stricter))).toEqual(made)
  expect(codes(createKeptValidate(stricter))).toEqual(made)
  expect(createCompiler(schemas, createKeptValidate(schemas)).compile(goodTexts()).findings).toEqual([])
})
