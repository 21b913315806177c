import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readCommand } from '../../src/cli/arguments.ts'
import { PAYMENT_LIMITS } from '../../src/payments/limits.ts'
import { createPullSources, NO_PROVIDER_SECRETS } from '../../src/payments/providers/index.ts'
import { type PullSource, pullTransactions, readPulls } from '../../src/payments/pull.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { BANK, newOrder, receive, type TestPayments, testPayments, transfer } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const TOKEN = 'sepay-api-token-0001'
const NOW = new Date('2026-11-21T05:00:00Z')

/** The transactions that the fake SePay API returns, oldest first. */
let rows: Record<string, unknown>[] = []
let answer: ((request: IncomingMessage, response: ServerResponse) => void) | null = null
const asked: URL[] = []
const authorizations: unknown[] = []

const server = createServer((request, response) => {
  if (answer !== null) return answer(request, response)
  const url = new URL(request.url ?? '', 'http://sepay')
  asked.push(url)
  authorizations.push(request.headers.authorization)
  const [page, size] = [Number(url.searchParams.get('page')), Number(url.searchParams.get('per_page'))]
  const data = rows.slice((page - 1) * size, page * size)
  const pagination = { total: rows.length, per_page: size, current_page: page, has_more: page * size < rows.length }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ status: 'success', data, meta: { pagination } }))
})

let source: PullSource
let payments: TestPayments

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const sepayApiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const limits = { ...PAYMENT_LIMITS, pullPagesMax: 3 }
  source = createPullSources({ ...NO_PROVIDER_SECRETS, sepayApiToken: TOKEN }, { limits, sepayApiUrl })[0] as PullSource
})
beforeEach(() => {
  rows = []
  answer = null
  asked.length = 0
  payments = testPayments(sql)
})
afterAll(async () => {
  server.close()
  await database.drop()
})

let numbers = 0
function row(change: Record<string, unknown> = {}): Record<string, unknown> {
  const number = ++numbers
  return {
    id: `07ad3dc9-0000-0000-0000-${String(number).padStart(12, '0')}`,
    transaction_date: '2026-11-21 11:24:40',
    account_number: '1012345678',
    va: '',
    transfer_type: 'in',
    amount_in: 50_000,
    amount_out: 0,
    accumulated: 0,
    transaction_content: 'chuyen tien',
    reference_number: `FT${number}`,
    code: null,
    bank_brand_name: 'VCB',
    ...change,
  }
}

const pull = () => pullTransactions(payments, source, NOW)
const none = { credited: 0, duplicate: 0, alias: 0, conflict: 0, unmatched: 0, ignored: 0, without_reference: 0 }
const wallets = async (): Promise<bigint> =>
  BigInt((await sql`select coalesce(sum(balance_micro_vnd), 0)::text as sum from wallet`)[0]?.sum)

test('credits once what the webhook failed to report, and wakes the calls that wait for the money', async () => {
  const order = await newOrder(payments)
  rows = [row({ transaction_content: `MBVCB.327.${order.orderCode}.CT tu 0071` })]
  const before = await wallets()
  expect(await pull()).toEqual({ ...none, credited: 1 })
  expect(await pull()).toEqual({ ...none, duplicate: 1 })
  expect((await wallets()) - before).toBe(50_000_000_000n)
  expect(payments.credited).toEqual([order.accountId])
  expect(asked[0]?.pathname).toBe('/v2/transactions')
  expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toEqual({
    transaction_date_from: '2026-11-19 12:00:00',
    transaction_date_sort: 'asc',
    transfer_type: 'in',
    per_page: '100',
    page: '1',
  })
  expect(new Set(authorizations)).toEqual(new Set([`Bearer ${TOKEN}`]))
})

test.each(['webhook first', 'list first'])('a transfer that both report is credited once: %s', async order => {
  const { orderCode } = await newOrder(payments)
  const listed = row({ transaction_content: orderCode, reference_number: 'mbvcb 327' })
  rows = [listed]
  const webhook = () =>
    receive(payments, transfer({ memo: orderCode, bankReference: 'MBVCB327', providerReference: '92704' }))
  const before = await wallets()
  if (order === 'webhook first') {
    expect(await webhook()).toMatchObject({ outcome: 'credited' })
    expect(await pull()).toEqual({ ...none, alias: 1 })
  } else {
    listed.reference_number = 'mbvcb 328'
    expect(await pull()).toEqual({ ...none, credited: 1 })
    const late = transfer({ memo: orderCode, bankReference: 'MBVCB328', providerReference: '92705' })
    expect(await receive(payments, late)).toMatchObject({ outcome: 'alias' })
  }
  expect((await wallets()) - before).toBe(50_000_000_000n)
})

test('a transfer to the virtual number that customers are shown is credited', async () => {
  payments = testPayments(sql, { bank: { ...BANK, accountNumber: '96247VA01' } })
  const { orderCode } = await newOrder(payments)
  rows = [row({ transaction_content: orderCode, va: '96247va01' }), row({ transaction_content: orderCode })]
  expect(await pull()).toEqual({ ...none, credited: 1, unmatched: 1 })
})

test("a transfer without the bank's reference is not credited but named", async () => {
  const order = await newOrder(payments)
  rows = [row({ transaction_content: order.orderCode, reference_number: null }), row()]
  expect(await pull()).toEqual({ ...none, unmatched: 1, without_reference: 1 })
  expect(payments.credited).toEqual([])
  expect(payments.events.map(event => event.message)).toContain(
    'sepay-api lists 1 transfers without a bank reference; compare them by hand',
  )
})

test('a row that cannot be parsed is kept as the fault, and holds up no other transfer', async () => {
  const [first, last] = [await newOrder(payments), await newOrder(payments)]
  rows = Array.from({ length: 120 }, () => row())
  rows[0] = row({ amount_in: '12.5', transaction_content: 'interest' })
  rows[1] = row({ transaction_content: first.orderCode })
  rows[119] = row({ transaction_content: last.orderCode })
  await expect(pull()).rejects.toThrow('amount_in is not a whole number of dong')
  expect(payments.credited).toEqual([first.accountId, last.accountId])
  const [failed] = await readPulls(payments)
  expect(failed?.fault).toContain('amount_in')
})

test('reads every page, and fails if there are more than it may read', async () => {
  rows = Array.from({ length: 230 }, () => row())
  expect(await pull()).toEqual({ ...none, unmatched: 230 })
  expect(asked.map(url => url.searchParams.get('page'))).toEqual(['1', '2', '3'])
  rows = Array.from({ length: 301 }, () => row())
  await expect(pull()).rejects.toThrow('more than 3 pages; the rest was not read')
})

test.each([
  [
    'an error',
    (_: IncomingMessage, response: ServerResponse) => response.writeHead(429).end('{}'),
    'SePay answered 429',
  ],
  ['no JSON', (_: IncomingMessage, response: ServerResponse) => response.end('<html>'), 'not an object'],
  [
    'another form',
    (_: IncomingMessage, response: ServerResponse) => response.end('{"data":{}}'),
    'no list of transactions',
  ],
  [
    'a huge answer',
    (_: IncomingMessage, response: ServerResponse) => response.end('x'.repeat(3_000_000)),
    'larger than',
  ],
  ['a closed connection', (request: IncomingMessage) => request.socket.destroy(), ''],
] as const)('%s is kept as the fault, without the token, until it works again', async (_, give, message) => {
  answer = give
  await expect(pull()).rejects.toThrow(message)
  const [failed] = await readPulls(payments)
  expect(failed?.fault).toContain(message)
  expect(failed?.fault).not.toContain(TOKEN)
  answer = null
  await pull()
  expect(await readPulls(payments)).toEqual([{ source: 'sepay-api', finishedAt: expect.any(Date), fault: null }])
})

test('without a token nothing is requested; the command line has the command', () => {
  expect(createPullSources(NO_PROVIDER_SECRETS, { limits: PAYMENT_LIMITS, sepayApiUrl: 'http://localhost' })).toEqual(
    [],
  )
  expect(readCommand(['payment', 'pull'])?.spec.name).toBe('payment pull')
})
