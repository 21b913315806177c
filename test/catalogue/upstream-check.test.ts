/** `upstream-check` against scripted providers on real sockets: what it sends, how it reads replies, and what it never prints. */

import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type Answer,
  drop,
  end,
  hang,
  head,
  json,
  raw,
  reset,
  type ScriptedUpstream,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'
import { useCommandProject } from './command-project.ts'

const project = useCommandProject()
const { replace } = project
const SECRETS = { north: 'north-secret-canary', south: 'south-secret-canary' }
let doubles: ScriptedUpstream[] = []
afterEach(async () => {
  await Promise.all(doubles.map(double => double.close()))
  doubles = []
})

beforeEach(() => {
  replace('upstreams.yaml', '{ messages: /v1/messages }', '{ messages: /v1/messages, models: /v1/models }')
  replace('upstreams.yaml', '      responses: /responses\n', '      responses: /responses\n      models: /models\n')
})

interface Providers {
  readonly north?: readonly Answer[]
  readonly south?: readonly Answer[]
}

/**
 * Runs `upstream-check`. Only providers with scripted answers have a credential. Fails if the output shows a credential or an
 * address.
 */
async function check(providers: Providers, words: readonly string[] = [], environment: Record<string, string> = {}) {
  const variables: Record<string, string> = { ...environment }
  for (const [id, answers] of Object.entries(providers)) {
    const double = await startScriptedUpstream(answers)
    doubles.push(double)
    variables[`UPSTREAM_${id.toUpperCase()}_BASE_URL`] = id === 'south' ? `${double.url}/v1` : double.url
    variables[`UPSTREAM_${id.toUpperCase()}_API_KEY`] = SECRETS[id as keyof typeof SECRETS]
  }
  project.today = '2026-11-22'
  project.environment = variables
  const printed = await project.call('upstream-check', ...words)
  expect(printed.out + printed.err).not.toMatch(/secret-canary|127\.0\.0\.1/)
  return printed
}

const listOf = (ids: readonly (string | object)[], rest: object = {}) =>
  json(200, { object: 'list', data: ids.map(id => (typeof id === 'string' ? { id, object: 'model' } : id)), ...rest })

const NORTH = listOf(['alpha-1', 'alpha-1-aws', 'beta-1', 'something-else'])
const SOUTH = listOf(['models/beta-2', 'beta-1', 'paint'])

test('asks each provider in the way its calls are made, and passes if all models are listed', async () => {
  const { status, out, err } = await check({ north: [NORTH], south: [SOUTH] })
  expect({ status, out: out.split('\n'), err }).toEqual({
    status: 0,
    out: ['north: 4 models listed; 3 in use, all in order', 'south: 3 models listed; 3 in use, all in order'],
    err: '',
  })
  const [north, south] = doubles.map(({ requests }) => requests[0])
  expect([north?.method, north?.path, south?.method, south?.path]).toEqual(['GET', '/v1/models', 'GET', '/v1/models'])
  expect(north?.headers).toMatchObject({ 'x-api-key': SECRETS.north, 'north-version': '1' })
  expect(south?.headers).toMatchObject({ authorization: `Bearer ${SECRETS.south}` })
  expect([north?.headers['content-length'], north?.body.length]).toEqual([undefined, 0])
})

test('says which models are missing or will be retired, next to what the catalogue says of them', async () => {
  replace(
    'families/beta.yaml',
    '{ id: beta-2,',
    '{ id: beta-2, deprecated: { since: 2026-01-01, retires: 2027-03-01, successor: beta-1 },',
  )
  const dated = (id: string, shutdown_date: unknown) => ({ id, object: 'model', shutdown_date })
  const found = await check({
    north: [listOf(['alpha-1-20260115', 'beta-1'])],
    south: [listOf([dated('beta-2', '2027-02-01'), dated('beta-1', '2027-01-31'), dated('paint', '2026-11-22')])],
  })
  expect({ ...found, out: found.out.split('\n') }).toEqual({
    status: 1,
    out: [
      'north: 2 models listed; 3 in use, 1 to look at',
      '  alpha-1-aws (svc/alpha-1) is not listed',
      'south: 3 models listed; 3 in use, 3 to look at',
      '  beta-1 ends on 2027-01-31, but the catalogue does not say so: write `deprecated: … retires: 2027-01-31`',
      '  beta-2 ends on 2027-02-01; the catalogue says 2027-03-01',
      '  paint (req/paint) was shut down on 2026-11-22',
    ],
    err: '',
  })
  const agreed = await check({
    south: [listOf([dated('beta-2', '2027-03-01'), dated('beta-1', null), dated('paint', 'soon')])],
  })
  expect(agreed.status).toBe(0)
  expect(agreed.out.split('\n')).toEqual([
    'north: not asked, no credential: set UPSTREAM_NORTH_API_KEY',
    'south: 3 models listed; 3 in use, all in order',
    '  beta-2 ends on 2027-03-01, as the catalogue says',
  ])
})

test('the JSON has the same for each model', async () => {
  const found = await check({ north: [listOf(['alpha-1-20260115', 'beta-1'])], south: [json(500, {})] }, ['--json'])
  expect(found.status).toBe(1)
  const entry = (id: string) => ({ id, retiresOn: null })
  const model = (name: string, finding: string | null, entries: string[], listedAs: string | null = null) => ({
    model: name,
    finding,
    listedAs,
    shutdownOn: null,
    entries: entries.map(entry),
  })
  expect(JSON.parse(found.out)).toEqual({
    upstreams: [
      {
        id: 'north',
        outcome: 'asked',
        credential: 'north#1',
        listed: 2,
        models: [
          model('alpha-1', null, ['alpha-1', 'req/alpha-1'], 'alpha-1-20260115'),
          model('alpha-1-aws', 'missing', ['svc/alpha-1']),
          model('beta-1', null, ['beta-1']),
        ],
      },
      { id: 'south', outcome: 'failed', credential: 'south#1', reason: 'HTTP 500' },
    ],
  })
})

test('reads each page once, starting after the last id of the page before', async () => {
  const more = { has_more: true, last_id: 'alpha/1 é' }
  expect(
    await check({ north: [listOf(['alpha-1'], more), listOf(['alpha-1-aws', 'beta-1'], { has_more: false })] }),
  ).toMatchObject({
    status: 0,
    out: expect.stringContaining('north: 3 models listed; 3 in use, all in order'),
  })
  expect(doubles[0]?.requests.map(({ path }) => path)).toEqual(['/v1/models', '/v1/models?after_id=alpha%2F1%20%C3%A9'])
  const turns = Array.from({ length: 2 }, () => listOf(['alpha-1'], more))
  expect((await check({ north: turns })).out).toContain(
    'north: failed with north#1, its list has more pages, but the last one read had nothing new',
  )
  const endless = Array.from({ length: 101 }, (_, page) =>
    listOf([`model-${page}`], { ...more, last_id: `model-${page}` }),
  )
  expect((await check({ north: endless })).out).toContain(
    'north: failed with north#1, its list has more than 100 pages',
  )
  expect(doubles.at(-1)?.requests).toHaveLength(100)
})

const CANARY = JSON.stringify({ error: { message: `Incorrect API key provided: ${SECRETS.north}` } })

test.each<[string, Answer, string]>([
  ['401 that repeats the key', [head(401), write(CANARY), end()], 'HTTP 401: it rejected the credential'],
  ['403', json(403, {}), 'HTTP 403: it rejected the credential'],
  ['404', json(404, {}), 'HTTP 404'],
  ['a redirect', [head(302, { location: 'http://127.0.0.1:1/' }), end()], 'HTTP 302'],
  ['429', json(429, {}), 'HTTP 429'],
  [
    'an HTML page',
    [head(200, { 'content-type': 'text/html' }), write('<html>hi</html>'), end()],
    'its answer is not a list of models',
  ],
  ['JSON of another kind', json(200, { models: ['alpha-1'] }), 'its answer is not a list of models'],
  [
    'a first page that does not say where the next begins',
    json(200, { data: [{ id: 'alpha-1' }], has_more: true, last_id: null }),
    'its list has more pages but gives no last_id to continue from',
  ],
  ['a list where an object should be', json(200, ['alpha-1']), 'its answer is not a list of models'],
  ['nothing', [head(200), end()], 'its answer is not a list of models'],
  ['bytes that are not HTTP', [raw('hello\r\n\r\n')], 'garbage: the provider does not speak HTTP'],
  ['a reset', [reset()], 'reset: ECONNRESET'],
  ['half a list', [head(200, { 'content-length': '100' }), write('{"data":['), drop()], 'reset: UND_ERR_SOCKET'],
  ['silence', [hang()], 'no complete answer in time'],
  ['silence in the middle', [head(200), write('{"data":['), hang()], 'no complete answer in time'],
  [
    'too much',
    [head(200), ...Array.from({ length: 9 }, () => write(Buffer.alloc(1024 * 1024, ' '))), end()],
    'its answer is too large',
  ],
  [
    'a small text that decompresses to too much',
    [head(200, { 'content-encoding': 'gzip' }), write(gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))), end()],
    'its answer is too large',
  ],
])('%s is a failure with its reason, and the other provider is asked all the same', async (_name, answer, reason) => {
  const { status, out } = await check({ north: [answer], south: [SOUTH] }, ['--timeout', '1'])
  expect(status).toBe(1)
  expect(out.split('\n')).toEqual([
    `north: failed with north#1, ${reason}`,
    'south: 3 models listed; 3 in use, all in order',
  ])
})

test('odd items of a list are ignored', async () => {
  const odd = [
    null,
    1,
    'x',
    {},
    { id: 5 },
    { id: 'x'.repeat(300) },
    { id: '__proto__' },
    { id: 'beta-1', shutdown_date: { a: 1 } },
  ]
  const body = { data: [...odd, { id: 'alpha-1' }, { id: 'alpha-1-aws', shutdown_date: '2026-02-31' }] }
  expect((await check({ north: [json(200, body)] })).out).toContain('north: 4 models listed; 3 in use, all in order')
})

test('providers without a credential or a list are not asked, and asking none at all is a failure', async () => {
  replace('upstreams.yaml', ', models: /v1/models', '')
  expect(await check({ north: [] })).toEqual({
    status: 1,
    out: [
      'north: not asked, no model list: upstreams.yaml has no path for `models`',
      'south: not asked, no credential: set UPSTREAM_SOUTH_API_KEY',
    ].join('\n'),
    err: 'No provider was asked.',
  })
  expect(doubles[0]?.requests).toHaveLength(0)
})

test('requests that would have to be signed are not made', async () => {
  replace('upstreams.yaml', 'auth: { scheme: x-api-key }', 'auth: { scheme: sigv4, region: us-east-1 }')
  const keys = { AWS_ACCESS_KEY_ID: 'AKIA-secret-canary', AWS_SECRET_ACCESS_KEY: 'aws-secret-canary' }
  const { status, out } = await check({}, ['--upstream', 'north'], keys)
  expect([status, out]).toEqual([
    1,
    'north: not asked, cannot sign requests for model lists: set UPSTREAM_NORTH_API_KEY',
  ])
})

test('a single upstream can be asked; a wrong command line or environment ends with status 2', async () => {
  const alone = await check({ north: [], south: [SOUTH] }, ['--upstream', 'south'])
  expect([alone.status, alone.out]).toEqual([0, 'south: 3 models listed; 3 in use, all in order'])
  expect(doubles[0]?.requests).toHaveLength(0)
  expect(await check({}, ['--upstream', 'sout'])).toMatchObject({
    status: 2,
    err: '--upstream sout: there is no such upstream; did you mean "south"?',
  })
  for (const timeout of ['0', '601', 'x', '1.5'])
    expect(await check({}, ['--timeout', timeout])).toMatchObject({
      status: 2,
      err: '--timeout must be a whole number of seconds from 1 to 600',
    })
  expect(await check({}, [], { UPSTREAM_NOBODY_API_KEY: 'nobody-secret-canary' })).toMatchObject({
    status: 2,
    err: expect.stringContaining('UPSTREAM_NOBODY_API_KEY belongs to no upstream in the catalogue'),
  })
})

test('--help says what it takes and when it fails', async () => {
  const { status, out } = await check({}, ['--help'])
  expect(status).toBe(0)
  for (const word of ['--upstream ID', '--timeout SECONDS', '--json', 'Exit status']) expect(out).toContain(word)
})
