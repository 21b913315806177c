/** The commands `price-diff` and `margin`, on a copy of the good catalogue. */

import { execFileSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useCommandProject } from './command-project.ts'

const project = useCommandProject()
const { call, replace } = project

const ROOT = join(import.meta.dirname, '../..')

test('price-diff compares with a folder, and fails until a large change is acknowledged', async () => {
  const base = join(project.scratch, 'base')
  cpSync(project.path('catalogue'), join(base, 'catalogue'), { recursive: true })
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
  const base = join(project.scratch, 'nets')
  cpSync(project.path('catalogue'), join(base, 'catalogue'), { recursive: true })
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

test('price-diff reads a commit with the schemas of that commit, and says what it cannot read', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: project.root,
      stdio: 'pipe',
    })
  cpSync(join(ROOT, 'schemas'), project.path('schemas'), { recursive: true })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'first')
  replace('families/beta.yaml', 'vnd: 2000', 'vnd: 2200')
  const usage = project.path('usage.csv')
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

const SEARCH = (vnd: number) => `web_search: { price: { vnd: ${vnd}, per: use } }`
const VOCABULARY = `extras:
  fields: {}
  tools: { web_search: { otherwise: leave_out, matches: [{ type: web_search* }], uses: [{ usage: /searches }] } }
`

test.each([
  ['what was left out is sold', 'web_search: leave_out', SEARCH(500), 'not acknowledged'],
  ['what was free is sold', 'web_search: allow', SEARCH(500), 'not acknowledged'],
  ['a use costs far more', SEARCH(300), SEARCH(500), 'not acknowledged'],
  ['a use costs far less', SEARCH(1100), SEARCH(500), 'not acknowledged'],
  ['a use costs a little more', SEARCH(400), SEARCH(500), ''],
  ['what was refused is sold', 'web_search: refuse', SEARCH(500), ''],
  ['what was sold is left out', SEARCH(500), 'web_search: leave_out', ''],
])('price-diff and the price of a tool: %s', async (_, before, after, verdict) => {
  const base = join(project.scratch, 'uses')
  replace('catalogue.yaml', 'counts:', `${VOCABULARY}counts:`)
  replace('upstreams.yaml', 'forward_headers:', `extras: { tools: { ${before} } }\n    forward_headers:`)
  cpSync(project.path('catalogue'), join(base, 'catalogue'), { recursive: true })
  replace('upstreams.yaml', before, after)
  const first = await call('price-diff', base)
  expect(first.status).toBe(verdict === '' ? 0 : 1)
  if (verdict === '') return expect(first.out).not.toContain('acknowledged')
  expect(first.out).toContain(`**${verdict}** |`)
  const line = '  - { name: web_search, price: { vnd: 500, per: use }, reason: "…" }'
  expect(first.err.split('\n')).toEqual([
    expect.stringContaining('web_search'),
    expect.any(String),
    'acknowledged:',
    line,
  ])
  replace('catalogue.yaml', 'counts:', `acknowledged:\n${line}\ncounts:`)
  const accepted = await call('price-diff', base)
  expect([accepted.status, accepted.err]).toEqual([0, ''])
  expect(accepted.out).toContain('acknowledged |')
})

test('price-diff: an acknowledged price of a tool counts once, not for what another provider sells later', async () => {
  const base = join(project.scratch, 'uses-later')
  const acknowledged = (reason: string) =>
    `  - { name: web_search, price: { vnd: 500, per: use }, reason: ${reason} }\n`
  replace('catalogue.yaml', 'counts:', `acknowledged:\n${acknowledged('north')}${VOCABULARY}counts:`)
  replace('upstreams.yaml', 'forward_headers:', `extras: { tools: { ${SEARCH(500)} } }\n    forward_headers:`)
  cpSync(project.path('catalogue'), join(base, 'catalogue'), { recursive: true })
  expect((await call('price-diff', base)).status).toBe(0)
  replace('families/beta.yaml', '- name: Beta 2\n', `- name: Beta 2\n    extras: { tools: { ${SEARCH(500)} } }\n`)
  const refused = await call('price-diff', base)
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('name: web_search')])
  replace('catalogue.yaml', acknowledged('north'), acknowledged('south'))
  expect(await call('price-diff', base)).toMatchObject({ status: 0, err: '' })
})

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
  // The `agent` mix of usage is 18 % input (5,000 VND per million tokens), 72 % cached input (500) and 10 % output (5,000).
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

test('margin calculates the costs of a usage export by kind of token, and lists the largest loss in dong first', async () => {
  buyBeta()
  const file = join(project.scratch, 'usage.csv')
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
  expect(await call('margin', '--usage', join(project.scratch, 'absent.csv'))).toMatchObject({
    status: 2,
    err: expect.stringContaining('there is no such file'),
  })
})

test('if upstreams share the calls of an entry, its costs are averaged by weight', async () => {
  buyBeta()
  const target = (via: string, usd: number, weight: number, more = '') =>
    `- { via: ${via}, model: beta-1${more}, weight: ${weight}, cost: { from: 2026-01-01, input: ${usd}, output: ${usd} } }`
  replace('families/beta.yaml', '- { via: south, model: beta-1 }', target('south', 0.01, 1))
  replace(
    'families/beta.yaml',
    '- { via: north, model: beta-1, standard: messages }',
    target('north', 0.05, 3, ', standard: messages'),
  )
  const file = join(project.scratch, 'usage.csv')
  writeFileSync(file, 'model,input_tokens,output_tokens,cost_vnd\nbeta-1,1000000,0,1500\n')
  const margins = async () => JSON.parse((await call('margin', '--usage', file, '--json')).out)
  // A quarter of the calls cost 250 dong each, the rest 1,250.
  const shared = await margins()
  expect(shared.usage.rows).toMatchObject([{ name: 'beta-1', costMicroVnd: '1000000000', marginPercent: 33.3 }])
  expect(shared.entries.find(({ id }: { id: string }) => id === 'beta-1').mixes[1].costMicroVnd).toBe('1000000000')
  // An upstream with weight 0 does not count, because it gets calls only when the others fail.
  replace('families/beta.yaml', 'beta-1, weight: 1,', 'beta-1, weight: 0,')
  expect((await margins()).usage.rows).toMatchObject([{ costMicroVnd: '1250000000', marginPercent: 16.7 }])
})

test('price-diff shows margins before and after where a price or a cost changes', async () => {
  buyBeta()
  const base = join(project.scratch, 'bought')
  cpSync(project.path('catalogue'), join(base, 'catalogue'), { recursive: true })
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
  // A future cost is listed, but does not change any margin yet.
  cpSync(project.path('catalogue'), join(base, 'catalogue'), { recursive: true })
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
