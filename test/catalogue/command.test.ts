/** The command line of the catalogue, on a copy of the project. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { run } from '../../codegen/run.ts'

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'catalogue-command-'))
let project = ''
let copies = 0
let today = '2026-11-21'
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

beforeEach(() => {
  project = join(scratch, String(++copies))
  today = '2026-11-21'
  cpSync(join(import.meta.dirname, 'good'), join(project, 'catalogue'), { recursive: true })
})

async function call(...argv: string[]): Promise<{ status: number; out: string; err: string }> {
  const out: string[] = []
  const err: string[] = []
  const status = await run(argv, { out: text => out.push(text), err: text => err.push(text) }, { root: project, today })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

const read = (name: string) => readFileSync(join(project, 'catalogue', name), 'utf8')

function replace(name: string, passage: string, by: string): void {
  expect(read(name)).toContain(passage)
  writeFileSync(join(project, 'catalogue', name), read(name).replace(passage, by))
}

test('generate, then check is in order; after a change check fails until generate has run', async () => {
  expect(await call('generate')).toMatchObject({ status: 0, err: '' })
  expect(await call('check')).toEqual({ status: 0, out: '', err: '6 entries, no errors' })
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 2100')
  const stale = await call('check')
  expect(stale.status).toBe(1)
  expect(stale.out).toContain('run `make generate` and commit the result [stale]')
  expect(await call('generate')).toMatchObject({
    status: 0,
    out: '6 entries, 2 upstreams: wrote src/generated/families/beta.ts, src/generated/settings.ts',
  })
  expect(await call('check')).toMatchObject({ status: 0 })
})

test('check warns of an end by the day it is, and is in order all the same', async () => {
  replace(
    'families/beta.yaml',
    '{ id: beta-2,',
    '{ id: beta-2, deprecated: { since: 2026-01-01, retires: 2027-03-01, successor: beta-1 },',
  )
  expect(await call('generate')).toMatchObject({ status: 0, err: '' })
  today = '2027-02-27'
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

test('digest says whether the tables are made from the YAML as it is', async () => {
  expect(await call('digest')).toMatchObject({ status: 1, out: expect.stringContaining('tables are missing') })
  await call('generate')
  const { status, out } = await call('digest', '--json')
  const said = JSON.parse(out)
  expect([status, said]).toEqual([
    0,
    { yaml: said.tables, tables: expect.stringMatching(/^[0-9a-f]{64}$/), agree: true },
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
  expect(() => readFileSync(join(project, 'src/generated/entries.ts'))).toThrow('ENOENT')
})

test.each([
  ['a link to nothing', 'families/gamma.yaml', 'nowhere.yaml', 'a link to something that does not exist'],
  ['a link to itself', 'families/gamma.yaml', 'gamma.yaml', 'a link that leads back to itself'],
  ['a file that every catalogue has', 'upstreams.yaml', 'nowhere.yaml', 'a link to something that does not exist'],
])('%s is a finding, for every verb', async (_, name, goal, reason) => {
  rmSync(join(project, 'catalogue', name), { force: true })
  symlinkSync(goal, join(project, 'catalogue', name))
  const line = `catalogue/${name}:1:1: ${reason}; make it readable, or delete it [unreadable-file]`
  expect(await call('check')).toEqual({ status: 1, out: line, err: '1 error, 0 warnings' })
  expect(await call('generate')).toMatchObject({ status: 1, out: line })
  expect(await call('list')).toMatchObject({ status: 1, err: line })
  expect(await call('add', 'req/beta-2', '--like', 'beta-2', '--price', '300')).toMatchObject({ status: 1 })
  expect(await call('price-diff', join(import.meta.dirname, '../..'))).toMatchObject({ status: 1, err: line })
})

test('a large file is a finding, and so is a byte of another encoding', async () => {
  writeFileSync(join(project, 'catalogue/families/gamma.yaml'), ' '.repeat(16 * 1024 * 1024 + 1))
  expect(await call('check')).toMatchObject({
    status: 1,
    out: 'catalogue/families/gamma.yaml:1:1: larger than 16777216 bytes; split it [unreadable-file]',
  })
  writeFileSync(join(project, 'catalogue/families/gamma.yaml'), Buffer.from('family: gamma # caf\xe9', 'latin1'))
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

test('add writes a further entry of a model beside the like one, keeps comments, corrects the counts, and generates', async () => {
  replace(
    'families/beta.yaml',
    'per: mtok }, upstream: { via: south, model: beta-2 } }',
    'per: mtok }, upstream: { via: south, model: beta-2 } } # stays',
  )
  const before = read('families/beta.yaml')
  expect(await call('add', 'req/beta-2', '--like', 'beta-2', '--price', '300')).toEqual({
    status: 0,
    out: 'added req/beta-2 at catalogue/families/beta.yaml:14: 300 VND per request',
    err: '',
  })
  const line =
    '      - { id: req/beta-2, price: { vnd: 300, per: request }, upstream: { via: south, model: beta-2 } }\n'
  expect(read('families/beta.yaml')).toBe(before.replace('# stays\n', `# stays\n${line}`))
  expect(read('catalogue.yaml')).toContain('counts: { entries: 7, aws: 1, per_call: 3 }')
  expect(await call('check')).toMatchObject({ status: 0, err: '7 entries, no errors' })
})

test('add aligns the new line with the like one', async () => {
  replace(
    'families/beta.yaml',
    '{ id: beta-2, price: { vnd: 2000, per: mtok }, upstream',
    '{ id: beta-2,          price: { vnd: 2000, per: mtok },         upstream',
  )
  await call('add', 'req/beta-2', '--like', 'beta-2', '--price', '300')
  expect(read('families/beta.yaml')).toContain(
    '{ id: req/beta-2,      price: { vnd: 300, per: request },       upstream',
  )
})

test('add writes a new model with the facts of the like one, above it', async () => {
  replace('families/beta.yaml', '  - name: Beta 2\n', '  # The second.\n  - name: Beta 2\n')
  const { status, out, err } = await call(
    'add',
    'beta-3',
    '--like',
    'beta-2',
    '--price',
    '2500',
    '--name',
    'Beta 3: new',
    '--released',
    '2026-11-01',
  )
  expect([status, out]).toEqual([0, 'added beta-3 at catalogue/families/beta.yaml:14: 2500 VND per mtok'])
  expect(err).toBe('beta-3 goes to south as "beta-3", which is a guess: set the name that south uses with --model NAME')
  expect(read('families/beta.yaml')).toContain(`models:
  - name: "Beta 3: new"
    context_tokens: 128000
    output_tokens_max: 16000
    capabilities: [tools, streaming]
    released: 2026-11-01
    entries:
      - { id: beta-3, price: { vnd: 2500, per: mtok }, upstream: { via: south, model: beta-3 } }
  # The second.
  - name: Beta 2
`)
})

test('add copies no cost: what another model is bought for says nothing of a new one', async () => {
  const cost = 'cost: { from: 2026-01-01, input: 0.01, output: 0.01 }'
  replace('catalogue.yaml', 'defaults: {', 'defaults: { fx: { from: 2026-01-01, vnd_per_usd: 25000 },')
  replace('families/beta.yaml', '  - name: Beta 2\n', `  - name: Beta 2\n    ${cost}\n`)
  replace(
    'families/beta.yaml',
    'upstream: { via: south, model: beta-2 }',
    `upstream: { via: south, model: beta-2, ${cost} }`,
  )
  const { status } = await call('add', 'beta-3', '--like', 'beta-2', '--price', '2500', '--name', 'Beta 3')
  expect([status, read('families/beta.yaml').split('cost:').length - 1]).toEqual([0, 2])
  // Another entry of the same model, at the same target, costs the same.
  expect(await call('add', 'req/beta-2', '--like', 'beta-2', '--price', '300')).toMatchObject({ status: 0 })
  expect(read('families/beta.yaml').split('cost:').length - 1).toBe(3)
})

test('add says what the upstream calls the model, and whether that is a guess', async () => {
  const options = ['--like', 'beta-2', '--price', '2500', '--json', '--dry-run']
  const known = await call('add', 'beta-3', ...options, '--name', 'Beta 3', '--model', 'Beta-3-2026')
  expect(known.err).toBe('')
  expect(JSON.parse(known.out)).toMatchObject({ upstream: [{ via: 'south', model: 'Beta-3-2026' }], guessed: false })
  const guess = await call('add', 'beta-3', ...options, '--name', 'Beta 3')
  expect(JSON.parse(guess.out)).toMatchObject({ upstream: [{ via: 'south', model: 'beta-3' }], guessed: true })
  const copied = await call('add', 'req/beta-1', '--like', 'beta-1', '--price', '300', '--json', '--dry-run')
  expect(JSON.parse(copied.out)).toEqual({
    id: 'req/beta-1',
    file: 'catalogue/families/beta.yaml',
    line: 24,
    written: false,
    upstream: [
      { via: 'south', model: 'beta-1' },
      { via: 'north', model: 'beta-1' },
    ],
    guessed: false,
  })
})

test('add copies a list of targets, and takes a like entry that spans lines', async () => {
  expect(await call('add', 'req/beta-1', '--like', 'beta-1', '--price', '300', '--dry-run')).toMatchObject({
    status: 0,
    out: 'would add req/beta-1 at catalogue/families/beta.yaml:24: 300 VND per request',
  })
  expect(read('families/beta.yaml')).not.toContain('req/beta-1')
  expect(await call('add', 'req/beta-1', '--like', 'beta-1', '--price', '300')).toMatchObject({ status: 0 })
  expect(read('families/beta.yaml').trimEnd().split('\n').at(-1)).toBe(
    '      - { id: req/beta-1, price: { vnd: 300, per: request }, upstream: [{ via: south, model: beta-1 }, { via: north, model: beta-1, standard: messages }] }',
  )
})

test.each<[string[], number, string]>([
  [['req/beta-2', '--like', 'beta-2'], 2, '--price is missing: prices are never inherited'],
  [['req/beta-2', '--price', '300'], 2, '--like is missing: name the entry to copy'],
  [
    ['req/beta-2', '--like', 'beta-2', '--price', '50.000'],
    2,
    '--price 50.000: write whole dong as digits only, e.g. 50000',
  ],
  [['req/beta-2', '--like', 'beta-22', '--price', '300'], 2, '--like beta-22 is not an entry; did you mean "beta-2"?'],
  [['beta-2', '--like', 'beta-1', '--price', '2000'], 2, 'beta-2 is already an entry'],
  [['beta-3', '--like', 'beta-1', '--price', '2000'], 2, '--name is missing: beta-3 is a new model of the family beta'],
  [
    ['svc/beta-2', '--like', 'beta-2', '--price', '2000', '--via', 'north'],
    2,
    '--model is missing: north may use another name than beta-2',
  ],
  [['req/beta-2', '--like', 'beta-2', '--price', '3'], 1, 'below the floor of 200'],
  [['x/beta-2', '--like', 'beta-2', '--price', '2000'], 1, '"x/beta-2" has the prefix "x/"'],
  [['--like', 'beta-2', '--price', '2000'], 2, 'ID (the new entry) is missing'],
])('add %j is refused and nothing is written', async (args, status, words) => {
  const before = [read('catalogue.yaml'), read('families/beta.yaml')]
  const refused = await call('add', ...args)
  expect([refused.status, refused.out]).toEqual([status, ''])
  expect(refused.err).toContain(words)
  expect([read('catalogue.yaml'), read('families/beta.yaml')]).toEqual(before)
})

test('price-diff compares with a folder, and fails until a large change is acknowledged', async () => {
  const base = join(scratch, 'base')
  cpSync(join(project, 'catalogue'), join(base, 'catalogue'), { recursive: true })
  expect(await call('price-diff', base)).toMatchObject({ status: 0, err: '' })
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 4000')
  const refused = await call('price-diff', base)
  expect(refused.status).toBe(1)
  expect(refused.out).toContain('| `beta-2` | 2,000 / mtok | 4,000 / mtok | +100.0 % | **not acknowledged** |')
  expect(refused.err).toContain('acknowledged:\n  - { name: beta-2, price: { vnd: 4000, per: mtok }, reason: "…" }')
  expect(await call('price-diff', base, '--threshold', '100')).toMatchObject({ status: 0 })
  replace(
    'catalogue.yaml',
    'counts:',
    'acknowledged:\n  - { name: beta-2, price: { vnd: 4000, per: mtok }, reason: dearer }\ncounts:',
  )
  const accepted = await call('price-diff', base)
  expect([accepted.status, accepted.err]).toEqual([0, ''])
  expect(accepted.out).toContain('| +100.0 % | acknowledged |')
})

test('price-diff shows floors, counts and what upstreams call their models', async () => {
  const base = join(scratch, 'nets')
  cpSync(join(project, 'catalogue'), join(base, 'catalogue'), { recursive: true })
  replace('catalogue.yaml', 'request: 200', 'request: 20')
  replace('families/beta.yaml', 'model: beta-2 }', 'model: beta-2-2026 }')
  await call('add', 'req/beta-2', '--like', 'beta-2', '--price', '300')
  const { status, out } = await call('price-diff', base)
  expect(status).toBe(0)
  expect(out).toContain('| `req/beta-2` | Beta 2 (per call) | 300 / request | south: beta-2-2026 (chat_completions) |')
  expect(out).toContain(
    '| `beta-2` | upstream | south: beta-2 (chat_completions) | south: beta-2-2026 (chat_completions) |',
  )
  expect(out).toContain('| `catalogue.yaml` | counts.entries | 6 | 7 |')
  expect(out).toContain('| `catalogue.yaml` | counts.per_call | 2 | 3 |')
  expect(out).toContain('| `catalogue.yaml` | floors.request | 200 | 20 |')
})

test('price-diff reads a commit with the schemas of that time, and says what it cannot read', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: project,
      stdio: 'pipe',
    })
  cpSync(join(root, 'schemas'), join(project, 'schemas'), { recursive: true })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'first')
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 2200')
  const usage = join(project, 'usage.csv')
  writeFileSync(usage, 'model,input_tokens,output_tokens,cost_vnd\nbeta-2,1000000,0,2000\n')
  const { status, out } = await call('price-diff', 'HEAD', '--usage', usage)
  expect(status).toBe(0)
  expect(out).toContain('| `beta-2` | 2,000 / mtok | 2,200 / mtok | +10.0 % |  |')
  expect(out).toContain('| **all 1 names** | 1 | 2,000 | 2,200 | +10.0 % |')
  expect(await call('price-diff', 'nowhere')).toMatchObject({
    status: 2,
    err: expect.stringContaining('git cannot read nowhere'),
  })
  expect(await call('price-diff', '--usage', usage)).toMatchObject({
    status: 2,
    err: 'BASE (a commit, a branch, or a folder) is missing',
  })
  expect(await call('price-diff', 'HEAD', '--usage', 'none.csv')).toMatchObject({
    status: 2,
    err: '--usage none.csv: there is no such file',
  })
})

test.each(['generate', 'check', 'list', 'add', 'migrate-words', 'price-diff', 'diff', 'upstream-check'])(
  '%s --help says what it takes',
  async verb => {
    const { status, out, err } = await call(verb, '--help')
    expect([status, err]).toEqual([0, ''])
    expect(out).toMatch(/^usage: (generate|check|list|add|migrate-words|price-diff|upstream-check) ?.*\n/)
    expect(out).toContain('--json')
    expect(out).toContain('Exit status: 0, or 1 when ')
    expect(await call(verb, 'anything', '-h')).toEqual({ status, out, err })
  },
)

test('an unknown verb or option shows what there is', async () => {
  expect(await call('prices')).toMatchObject({
    status: 2,
    err: expect.stringContaining('usage: node codegen/main.ts <verb>'),
  })
  expect(await call('check', '--fast')).toMatchObject({
    status: 2,
    err: expect.stringContaining("Unknown option '--fast'"),
  })
  expect(await call('help')).toMatchObject({ status: 0, out: expect.stringContaining('price-diff BASE') })
})

/** A rate of 25,000 dong, and beta-2 at 0.2 USD for any million tokens: 5,000 dong, at a price of 2,000. */
function buyBeta(): void {
  replace('catalogue.yaml', 'defaults: {', 'defaults: { fx: { from: 2026-01-01, vnd_per_usd: 25000 },')
  replace(
    'families/beta.yaml',
    '{ id: beta-2,',
    '{ id: beta-2, cost: { from: 2026-01-01, input: 0.2, cached: 0.02, output: 0.2 },',
  )
  replace('families/paint.yaml', '{ id: req/paint,', '{ id: req/paint, cost: { from: 2026-01-01, image: 0.02 },')
}

test('margin shows what entries cost and earn, the largest loss first, and those of unknown cost last', async () => {
  buyBeta()
  const { status, out, err } = await call('margin')
  expect([status, err]).toEqual([0, ''])
  const [head, ...rows] = out.split('\n').map(line => line.replace(/ {2,}/g, ' | '))
  expect(head).toBe('entry | VND | per | agent or unit | chat | no cache')
  // 18 % at 5,000, 72 % at 500, 10 % at 5,000.
  expect(rows.slice(0, 6)).toEqual([
    'beta-2 | 2,000 | mtok | 1,760 | +12.0 % | 5,000 | −150.0 % | 5,000 | −150.0 %',
    'req/paint | 650 | image | 500 | +23.1 %',
    'alpha-1 | 6,000 | mtok | unknown | unknown | unknown',
    'beta-1 | 1,500 | mtok | unknown | unknown | unknown',
    'req/alpha-1 | 900 | request | unknown',
    'svc/alpha-1 | 7,000 | mtok | unknown | unknown | unknown',
  ])
  expect(out).toContain('0 of 6 entries lose money; the cost of 4 is unknown.')
  expect(JSON.parse((await call('margin', '--json')).out)).toMatchObject({
    date: '2026-11-21',
    entries: [
      {
        id: 'beta-2',
        price: { vnd: 2000, per: 'mtok' },
        mixes: [
          { mix: 'agent', costMicroVnd: '1760000000', marginPercent: 12 },
          { mix: 'chat', costMicroVnd: '5000000000', marginPercent: -150 },
          { mix: 'no_cache', costMicroVnd: '5000000000', marginPercent: -150 },
        ],
      },
      { id: 'req/paint', mixes: [{ mix: 'image', costMicroVnd: '500000000', marginPercent: 23.1 }] },
      { id: 'alpha-1', mixes: [] },
      { id: 'beta-1', mixes: [] },
      { id: 'req/alpha-1', mixes: [] },
      { id: 'svc/alpha-1', mixes: [] },
    ],
    usage: null,
  })
})

test('margin reckons a usage export by the kinds of its tokens, with the largest loss in dong first', async () => {
  buyBeta()
  const file = join(scratch, 'usage.csv')
  const rows = [
    'account_id,model,input_tokens,output_tokens,cached_input_tokens,images,cost_vnd,cache_write_tokens,upstream_cost_vnd',
    '1,beta-2,1000000,1000000,0,0,4000,0,',
    '1,beta-2,1000000,0,1000000,0,2000,0,',
    '1,beta-2,1000000,0,0,0,0,0,',
    '2,req/paint,0,0,0,4,2600,0,',
    '2,alpha-1,1000,1000,0,0,12,0,',
    '2,nobody,1000,1000,0,0,12,0,',
  ]
  writeFileSync(file, `${rows.join('\r\n')}\r\n`)
  const { status, out } = await call('margin', '--usage', file)
  expect(status).toBe(0)
  const table = out
    .split('\n')
    .slice(0, 7)
    .map(line => line.replace(/ {2,}/g, ' | '))
  expect(table).toEqual([
    "The given usage at today's prices and costs, in VND:",
    'entry | charged calls | revenue | cost | margin',
    'beta-2 | 2 | 6,000 | 10,500 | −4,500 | −75.0 %',
    'req/paint | 1 | 2,600 | 2,000 | 600 | +23.1 %',
    'alpha-1 | 1 | 12 | unknown',
    'all with known cost | 8,600 | 12,500 | −3,900',
    'Left out because they are not in the catalogue: nobody.',
  ])
  const { usage } = JSON.parse((await call('margin', '--usage', file, '--json')).out)
  expect(usage).toMatchObject({ revenueMicroVnd: '8600000000', costMicroVnd: '12500000000', unknown: ['nobody'] })
  expect(await call('margin', '--usage', join(scratch, 'absent.csv'))).toMatchObject({
    status: 2,
    err: expect.stringContaining('there is no such file'),
  })
})

test('a usage export costs what the upstreams that share the calls of an entry charge, by weight', async () => {
  buyBeta()
  const target = (via: string, usd: number, weight: number, more = '') =>
    `- { via: ${via}, model: beta-1${more}, weight: ${weight}, cost: { from: 2026-01-01, input: ${usd}, output: ${usd} } }`
  replace('families/beta.yaml', '- { via: south, model: beta-1 }', target('south', 0.01, 1))
  replace(
    'families/beta.yaml',
    '- { via: north, model: beta-1, standard: messages }',
    target('north', 0.05, 3, ', standard: messages'),
  )
  const file = join(scratch, 'usage.csv')
  writeFileSync(file, 'model,input_tokens,output_tokens,cost_vnd\nbeta-1,1000000,0,1500\n')
  const margins = async () => JSON.parse((await call('margin', '--usage', file, '--json')).out)
  // A quarter at 250 dong, the rest at 1,250.
  const shared = await margins()
  expect(shared.usage.rows).toMatchObject([{ name: 'beta-1', costMicroVnd: '1000000000', marginPercent: 33.3 }])
  expect(shared.entries.find(({ id }: { id: string }) => id === 'beta-1').mixes[1].costMicroVnd).toBe('1000000000')
  // What takes calls only when the others fail is no part of it.
  replace('families/beta.yaml', 'beta-1, weight: 1,', 'beta-1, weight: 0,')
  expect((await margins()).usage.rows).toMatchObject([{ costMicroVnd: '1250000000', marginPercent: 16.7 }])
})

test('price-diff shows margins before and after where a price or a cost changes', async () => {
  buyBeta()
  const base = join(scratch, 'bought')
  cpSync(join(project, 'catalogue'), join(base, 'catalogue'), { recursive: true })
  expect((await call('price-diff', base)).out).not.toContain('Margins')
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 2200')
  replace(
    'upstreams.yaml',
    '    auth: { scheme: bearer }\n',
    '    auth: { scheme: bearer }\n    discount: { from: 2026-11-01, share: 0.5 }\n',
  )
  const { out } = await call('price-diff', base)
  expect(out).toContain('| `beta-2` | agent | 1,760 | +12.0 % | 880 | +60.0 % |')
  expect(out).toContain('| `req/paint` | image | 500 | +23.1 % | 250 | +61.5 % |')
  expect(out).toContain('| `upstream south` | discount | – | from 2026-11-01: share 0.5 |')
  expect(JSON.parse((await call('price-diff', base, '--json')).out).margins).toHaveLength(2)
  // What comes later is told as a fact, and changes no margin yet.
  cpSync(join(project, 'catalogue'), join(base, 'catalogue'), { recursive: true })
  replace(
    'families/beta.yaml',
    'cost: { from: 2026-01-01, input: 0.2, cached: 0.02, output: 0.2 }',
    'cost: [{ from: 2026-01-01, input: 0.2, cached: 0.02, output: 0.2 }, { from: 2027-01-01, input: 9, output: 9 }]',
  )
  const later = (await call('price-diff', base)).out
  expect(later).not.toContain('Margins')
  expect(later).toContain(
    '| `beta-2` | cost | from 2026-01-01: input 0.2, cached 0.02, output 0.2 | from 2026-01-01: input 0.2, cached 0.02, output 0.2; from 2027-01-01: input 9, output 9 |',
  )
})
