/** The command line of the catalogue: generate, check, digest, list and help. */

import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useCommandProject } from './command-project.ts'

const project = useCommandProject()
const { call, replace } = project

test('check passes after generate; after a change it fails until generate has run again', async () => {
  expect(await call('generate')).toMatchObject({ status: 0, err: '' })
  expect(await call('check')).toEqual({ status: 0, out: '', err: '6 entries, no errors' })
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 2100')
  const stale = await call('check')
  expect(stale.status).toBe(1)
  expect(stale.out).toContain('run `make generate` and commit the result [stale]')
  expect(await call('generate')).toMatchObject({
    status: 0,
    out: '6 entries, 2 upstreams: wrote src/generated/families/beta.ts, src/generated/settings.ts, src/generated/tables.ts',
  })
  expect(await call('check')).toMatchObject({ status: 0 })
})

test('check warns of an approaching retirement, depending on the day, and passes all the same', async () => {
  replace(
    'families/beta.yaml',
    '{ id: beta-2,',
    '{ id: beta-2, deprecated: { since: 2026-01-01, retires: 2027-03-01, successor: beta-1 },',
  )
  replace('families/beta.yaml', 'context_tokens: 64000', 'context_tokens: 128000')
  expect(await call('generate')).toMatchObject({ status: 0, err: '' })
  project.today = '2027-02-27'
  const words =
    '"beta-2" retires in 2 days, on 2027-03-01: "beta-1" will serve its calls at 1500 per mtok, not 2000 per mtok; tell its callers, and make sure that this is what they should get'
  expect(await call('check')).toEqual({
    status: 0,
    out: `catalogue/families/beta.yaml:13:65: warning: ${words} [retires-soon]`,
    err: '6 entries, no errors',
  })
  expect(await call('check', '--format', 'github')).toMatchObject({
    status: 0,
    out: `::warning file=catalogue/families/beta.yaml,line=13,col=65,title=retires-soon::${words}`,
  })
  expect(await call('generate')).toMatchObject({ status: 0, err: '' })
})

test('digest says whether the tables were generated from the present YAML', async () => {
  expect(await call('digest')).toMatchObject({ status: 1, out: expect.stringContaining('tables are missing') })
  await call('generate')
  const { status, out } = await call('digest', '--json')
  const digests = JSON.parse(out)
  expect([status, digests]).toEqual([
    0,
    { yaml: digests.tables, tables: expect.stringMatching(/^[0-9a-f]{64}$/), agree: true },
  ])
  replace('families/beta.yaml', '  - name: Beta 2', '  # No news.\n  - name: Beta 2')
  expect(await call('digest')).toMatchObject({ status: 0 })
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 2001')
  expect(await call('digest')).toMatchObject({ status: 1 })
  replace('families/beta.yaml', 'vnd: 2001', 'vnd: zero')
  expect(await call('digest')).toMatchObject({
    status: 1,
    out: expect.stringContaining('yaml   has errors; see check'),
  })
})

test('check prints findings as text, as annotations, or as JSON; generate writes nothing', async () => {
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 20')
  const words = '20 VND per mtok is below the floor of 1000; write at least 1000, or lower `floors` in catalogue.yaml'
  expect(await call('check')).toEqual({
    status: 1,
    out: `catalogue/families/beta.yaml:13:37: ${words} [price-floor]`,
    err: '1 error, 0 warnings',
  })
  expect(await call('check', '--format', 'github')).toMatchObject({
    status: 1,
    out: `::error file=catalogue/families/beta.yaml,line=13,col=37,title=price-floor::${words}`,
  })
  const json = await call('check', '--json')
  expect(JSON.parse(json.out)).toEqual([
    {
      file: 'catalogue/families/beta.yaml',
      line: 13,
      column: 37,
      code: 'price-floor',
      severity: 'error',
      message: words.split('; ')[0],
      fix: words.split('; ')[1],
    },
  ])
  expect(await call('generate')).toMatchObject({ status: 1 })
  expect(() => readFileSync(project.path('src/generated/entries.ts'))).toThrow('ENOENT')
})

test.each([
  ['a link to nothing', 'families/gamma.yaml', 'nowhere.yaml', 'a link to something that does not exist'],
  ['a link to itself', 'families/gamma.yaml', 'gamma.yaml', 'a link that leads back to itself'],
  ['a file that every catalogue has', 'upstreams.yaml', 'nowhere.yaml', 'a link to something that does not exist'],
])('%s is a finding, for every command', async (_, name, goal, reason) => {
  rmSync(project.path('catalogue', name), { force: true })
  symlinkSync(goal, project.path('catalogue', name))
  const line = `catalogue/${name}:1:1: ${reason}; make it readable, or delete it [unreadable-file]`
  expect(await call('check')).toEqual({ status: 1, out: line, err: '1 error, 0 warnings' })
  expect(await call('generate')).toMatchObject({ status: 1, out: line })
  expect(await call('list')).toMatchObject({ status: 1, err: line })
  expect(await call('add', 'req/beta-2', '--like', 'beta-2', '--price', '300')).toMatchObject({ status: 1 })
  expect(await call('price-diff', join(import.meta.dirname, '../..'))).toMatchObject({ status: 1, err: line })
})

test('a large file is a finding, and so is a byte of another encoding', async () => {
  writeFileSync(project.path('catalogue/families/gamma.yaml'), ' '.repeat(16 * 1024 * 1024 + 1))
  expect(await call('check')).toMatchObject({
    status: 1,
    out: 'catalogue/families/gamma.yaml:1:1: larger than 16777216 bytes; split it [unreadable-file]',
  })
  writeFileSync(project.path('catalogue/families/gamma.yaml'), Buffer.from('family: gamma # caf\xe9', 'latin1'))
  expect(await call('check')).toMatchObject({
    status: 1,
    out: 'catalogue/families/gamma.yaml:1:20: the byte 0xE9 is not UTF-8; save the file as UTF-8 [not-utf8]',
  })
})

test('list shows a table with filters, or JSON', async () => {
  const { out, status } = await call('list', '--family', 'alpha', '--per', 'mtok')
  expect(status).toBe(0)
  expect(out).toBe(
    [
      'id            VND  per   channel   context  output  capabilities                      upstream',
      'alpha-1      6000  mtok  standard   200000   64000  reasoning vision tools streaming  north:alpha-1',
      'svc/alpha-1  7000  mtok  aws        200000   64000  reasoning vision tools streaming  north:alpha-1-aws',
      '2 entries',
    ].join('\n'),
  )
  const json = await call('list', '--capability', 'vision', '--json')
  expect(JSON.parse(json.out).map((entry: { id: string }) => entry.id)).toEqual([
    'alpha-1',
    'req/alpha-1',
    'svc/alpha-1',
  ])
  expect(await call('list', '--channel', 'awz')).toEqual({
    status: 2,
    out: '',
    err: 'no entry has the channel "awz"; did you mean "aws"?',
  })
})

test.each(['generate', 'check', 'list', 'add', 'migrate-words', 'price-diff', 'diff', 'upstream-check'])(
  '%s --help says what it takes',
  async command => {
    const { status, out, err } = await call(command, '--help')
    expect([status, err]).toEqual([0, ''])
    expect(out).toMatch(/^usage: (generate|check|list|add|migrate-words|price-diff|upstream-check) ?.*\n/)
    expect(out).toContain('--json')
    expect(out).toContain('Exit status: 0, or 1 when ')
    expect(await call(command, 'anything', '-h')).toEqual({ status, out, err })
  },
)

test('an unknown command or option gets a list of those that exist', async () => {
  expect(await call('prices')).toMatchObject({
    status: 2,
    err: expect.stringContaining('usage: node codegen/main.ts <command>'),
  })
  expect(await call('check', '--fast')).toMatchObject({
    status: 2,
    err: expect.stringContaining("Unknown option '--fast'"),
  })
  expect(await call('help')).toMatchObject({ status: 0, out: expect.stringContaining('price-diff BASE') })
})

test('with --json, a command that fails without a result prints its error as JSON', async () => {
  const wrong = await call('list', '--colour', 'red', '--json')
  expect([wrong.status, wrong.out]).toEqual([2, ''])
  expect(JSON.parse(wrong.err)).toEqual({ error: (await call('list', '--colour', 'red')).err })
  expect(JSON.parse((await call('lisst', '--json')).err)).toEqual({ error: expect.stringContaining('migrate-words') })
  replace('families/beta.yaml', 'vnd: ', 'vmd: ')
  for (const words of [['list'], ['margin'], ['add', 'beta-3', '--like', 'beta-2', '--price', '2500']]) {
    const { status, out, err } = await call(...words, '--json')
    expect([words, status, out]).toEqual([words, 1, ''])
    expect(JSON.parse(err)).toEqual({ error: expect.stringContaining('families/beta.yaml:') })
  }
})
