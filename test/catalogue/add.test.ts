/** The CLI command `add`, run on a copy of the valid catalogue in good/. `--like` names the entry that it copies. */

import { expect, test } from 'vitest'
import { useCommandProject } from './command-project.ts'

const { call, read, replace } = useCommandProject()

test('add writes another entry of a model below the one that it copies, keeps comments, corrects the counts, and generates', async () => {
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

test('add aligns the new line with the one that it copies', async () => {
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

test('add writes a new model with the facts of the one that it copies, above that one', async () => {
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

test('add copies no cost, because a new model’s cost is not that of another', async () => {
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
  // A new entry for the same model and target gets the cost of the existing one.
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
    succeeds: [],
  })
})

test.each([
  ['{ since: 2026-11-01, retires: 2027-01-06 }', '{ since: 2026-11-01, retires: 2027-01-06, successor: req/easel }'],
  [
    '\n          since: 2026-11-01\n          retires: 2027-01-06 # announced',
    '\n          since: 2026-11-01\n          retires: 2027-01-06 # announced\n          successor: req/easel',
  ],
])(
  'add makes the second model of a kind the successor of the only one, which retires: %j',
  async (alone, succeeded) => {
    const entry = (ending: string) =>
      `- id: req/paint\n        deprecated: ${ending}\n        price: { vnd: 650, per: image }\n        upstream: { via: south, model: paint }\n`
    replace(
      'families/paint.yaml',
      '- { id: req/paint, price: { vnd: 650, per: image }, upstream: { via: south, model: paint } }\n',
      entry(alone),
    )
    const like = ['--like', 'req/paint', '--name', 'Easel', '--model', 'easel-1', '--released', '2026-11-20']
    const before = read('families/paint.yaml')
    expect(await call('add', 'req/easel', ...like, '--price', '2000')).toMatchObject({
      status: 1,
      err: expect.stringContaining('"req/easel" costs 2000 per image, "req/paint" 650 per image'),
    })
    expect(read('families/paint.yaml')).toBe(before)
    expect(await call('add', 'req/easel', ...like, '--price', '700')).toEqual({
      status: 0,
      out: 'added req/easel at catalogue/families/paint.yaml:10: 700 VND per image\nadded it as the successor of req/paint',
      err: expect.any(String),
    })
    expect(read('families/paint.yaml')).toContain(entry(succeeded))
    expect(await call('check')).toMatchObject({ status: 0 })
  },
)

test('add copies a list of targets, also from an entry that spans several lines', async () => {
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
  [['req/beta-2', '--like', 'beta-2', '--price', '1e3'], 2, '--price 1e3: write whole dong as digits only, e.g. 6500'],
  [
    ['req/beta-2', '--like', 'beta-22', '--price', '300'],
    2,
    '--like: the catalogue has no entry beta-22; did you mean "beta-2"?',
  ],
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
