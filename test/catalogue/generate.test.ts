/** Generated files have the same bytes on every machine, match their sources, and make wrong ids a compile error. */

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { formatFindings } from '../../codegen/findings.ts'
import { compareFiles, writeFiles } from '../../codegen/generate.ts'
import { literal } from '../../codegen/literal.ts'
import { renderFiles, renderTables } from '../../codegen/render.ts'
import { readCatalogue, type SourceText } from '../../codegen/source.ts'
import { compiler, goodTexts, withPassage } from './support.ts'

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'catalogue-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function rendered(texts: readonly SourceText[]): string {
  const { resolved, findings } = compiler.compile(texts)
  if (resolved === null) throw new Error(formatFindings(findings, 'text'))
  return renderTables(resolved)
    .map(({ path, text }) => `${path}\n${text}`)
    .join('\n')
}

test('the committed files are those that the sources generate', async () => {
  const { resolved, findings } = compiler.compile(readCatalogue(join(root, 'catalogue'), 'catalogue'))
  expect(formatFindings(findings, 'text')).toBe('')
  if (resolved === null) throw new Error('unreachable')
  expect(compareFiles(root, await renderFiles(resolved, compiler.schemas))).toEqual([])
})

test('file order, line ends, comments and key order do not change a byte', () => {
  const expected = rendered(goodTexts())
  expect(rendered(goodTexts().toReversed())).toBe(expected)
  expect(rendered(goodTexts().map(source => ({ ...source, text: source.text.replaceAll('\n', '\r\n') })))).toBe(
    expected,
  )
  expect(rendered(goodTexts().map(source => ({ ...source, text: `${source.text}# the end\n` })))).toBe(expected)
  const swapped = withPassage(
    'families/beta.yaml',
    'family: beta\nvendor: southern\n',
    'vendor: southern\nfamily: beta\n',
  )
  expect(rendered(swapped)).toBe(expected)
})

test('locale and time zone do not change a byte', () => {
  const project = join(scratch, 'project')
  for (const folder of ['catalogue', 'schemas', 'codegen'])
    cpSync(join(root, folder), join(project, folder), { recursive: true })
  const own = ['catalogue/cost.ts', 'catalogue/endpoints.ts', 'conversation/patterns.ts']
  const read = [...own, 'lib/money.ts', 'lib/whole-files.ts']
  const engine = ['generated/types.ts', 'app/environment.ts', 'app/limits.ts', ...read]
  for (const file of ['package.json', 'docs/conversion.md', ...engine.map(name => `src/${name}`)])
    cpSync(join(root, file), join(project, file))
  const env = {
    ...process.env,
    LANG: 'tr_TR.UTF-8',
    LC_ALL: 'tr_TR.UTF-8',
    TZ: 'Asia/Ho_Chi_Minh',
    NODE_PATH: join(root, 'node_modules'),
  }
  execFileSync('ln', ['-s', join(root, 'node_modules'), join(project, 'node_modules')])
  const { status, stderr } = spawnSync(process.execPath, ['codegen/main.ts', 'generate'], {
    cwd: project,
    env,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  for (const name of [
    'src/generated/families/claude.ts',
    'src/generated/settings.ts',
    'src/generated/types.ts',
    'codegen/generated/types.ts',
    'docs/catalogue.md',
    'docs/configuration.md',
    'docs/conversion.md',
  ]) {
    expect(readFileSync(join(project, name), 'utf8')).toBe(readFileSync(join(root, name), 'utf8'))
  }
})

test('a change of value changes the digest, a comment does not', () => {
  const digest = (texts: readonly SourceText[]) => compiler.compile(texts).tables?.settings.digest
  expect(digest(goodTexts())).toMatch(/^[0-9a-f]{64}$/)
  expect(digest(withPassage('families/beta.yaml', 'vnd: 2000', 'vnd: 2001'))).not.toBe(digest(goodTexts()))
  expect(digest(withPassage('families/beta.yaml', 'vnd: 2000', 'vnd: 2000 '))).toBe(digest(goodTexts()))
})

test('a process that starts while the tables are replaced one by one loads the old ones, the new ones or none', () => {
  const render = (texts: readonly SourceText[]) => {
    const { resolved } = compiler.compile(texts)
    if (resolved === null) throw new Error('unreachable')
    return renderTables(resolved)
  }
  const project = join(scratch, 'replaced')
  cpSync(join(root, 'src/lib/whole-files.ts'), join(project, 'src/lib/whole-files.ts'))
  writeFiles(project, render(goodTexts()))
  const load = () => {
    const show = `import { TABLES } from ${JSON.stringify(join(project, 'src/generated/tables.ts'))}
      console.log(TABLES.entries.find(({ id }) => id === 'beta-2').price.vnd, TABLES.settings.digest.slice(0, 8))`
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', show], {
      encoding: 'utf8',
    })
    return status === 0 ? stdout.trim() : /do not belong together/.exec(stderr)?.[0]
  }
  const before = load()
  expect(before).toMatch(/^2000 [0-9a-f]{8}$/)
  const later = render(withPassage('families/beta.yaml', 'vnd: 2000', 'vnd: 2001'))
  const changed = later.filter(({ path, text }) => readFileSync(join(project, path), 'utf8') !== text)
  expect(changed).toHaveLength(3)
  const stamp = changed.find(({ path }) => path.endsWith('/tables.ts'))
  const others = changed.filter(file => file !== stamp)
  for (const { path, text } of others) {
    writeFileSync(join(project, path), text)
    expect(load()).toBe('do not belong together')
  }
  expect(writeFiles(project, later)).toEqual([stamp?.path])
  expect(load()).toMatch(/^2001 [0-9a-f]{8}$/)
  expect(load()).not.toBe(before)
})

test('stale, missing and unknown files are findings, and generating repairs them', () => {
  const { resolved } = compiler.compile(goodTexts())
  if (resolved === null) throw new Error('unreachable')
  const files = renderTables(resolved)
  const project = join(scratch, 'stale')
  expect(writeFiles(project, files)).toHaveLength(files.length)
  expect(writeFiles(project, files)).toEqual([])
  const settings = join(project, 'src/generated/settings.ts')
  writeFileSync(settings, readFileSync(settings, 'utf8').replace("'svc'", "'abc'"))
  rmSync(join(project, 'src/generated/ids.ts'))
  writeFileSync(join(project, 'src/generated/old.ts'), '')
  expect(formatFindings(compareFiles(project, files), 'text')).toBe(
    [
      'src/generated/ids.ts:1:1: the file is missing; run `make generate` and commit the result [stale]',
      'src/generated/settings.ts:6:1: the file does not match its sources; run `make generate` and commit the result [stale]',
      'src/generated/old.ts:1:1: nothing generates this file; run `make generate` and commit the result [stale]',
    ].join('\n'),
  )
  expect(writeFiles(project, files).toSorted()).toEqual(
    ['ids', 'old', 'settings'].map(name => `src/generated/${name}.ts`),
  )
  expect(compareFiles(project, files)).toEqual([])
})

test('an alias, a fallback or a target that names nothing that exists does not compile', () => {
  const folder = join(scratch, 'dangling')
  mkdirSync(folder)
  // All files but the one that puts them together, which needs the engine and Node's types.
  cpSync(join(root, 'src/generated'), folder, { recursive: true, filter: path => !path.endsWith('/tables.ts') })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const options = {
    extends: join(root, 'tsconfig.json'),
    include: [`${folder}/**/*.ts`],
    compilerOptions: { types: [] },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  const types = () => spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { encoding: 'utf8' })
  expect(types().stdout).toBe('')
  const replace = (name: string, passage: string, by: string) => {
    const text = readFileSync(join(folder, name), 'utf8')
    expect(text).toContain(passage)
    writeFileSync(join(folder, name), text.replace(passage, by))
  }
  replace('settings.ts', "fallback: 'claude-fable-5'", "fallback: 'claude-fable'")
  replace('settings.ts', "opus: 'claude-opus-5'", "opus: 'claude-opus'")
  replace('families/deepseek.ts', "via: 'deepseek'", "via: 'deepsea'")
  const { status, stdout } = types()
  expect(status).not.toBe(0)
  expect(stdout).toContain('"claude-fable"')
  expect(stdout).toContain('"claude-opus"')
  expect(stdout).toContain('"deepsea"')
})

test.each<[unknown, string]>([
  ["it's", '"it\'s"'],
  ['a "b" \\ \n \u2028', `'a "b" \\\\ \\n \\u2028'`],
  [{ plain: 1, 'two words': null }, "{ plain: 1, 'two words': null }"],
  [JSON.parse('{"__proto__":{"a":[]}}'), "{ ['__proto__']: { a: [] } }"],
  [[], '[]'],
])('%j is written as source that means the same', (value, source) => {
  expect(literal(value)).toBe(source)
})
