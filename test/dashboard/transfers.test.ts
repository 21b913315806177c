/** The operators' transfers page: suggesting an owner, assigning a transfer, and finding it again. */

import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { credit } from '../../src/ledger/credit.ts'
import { settleCalls } from '../../src/ledger/settle.ts'
import { requestIdOf } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { enterTransfer } from '../../src/payments/enter.ts'
import { receiveTransactions } from '../../src/payments/receive.ts'
import { COMPARED_MAX } from '../../src/payments/search.ts'
import { suggestOwners } from '../../src/payments/suggest.ts'
import { listUnmatched } from '../../src/payments/unmatched.ts'
import { CALL_MICRO_VND, expectCleanAudit, poolOf, settlement } from '../ledger/world.ts'
import { BANK, testPayments, transfer } from '../payments/world.ts'
import { startTestGateway, TEST_BANK, type TestGateway } from '../support/gateway.ts'
import { readable, Visitor } from './visitor.ts'

let running: TestGateway
let first: Visitor
let second: Visitor
let an: Visitor
let code = ''
const SECRET = 'a-secret-shared-with-sepay'
const EMAIL = 'tran.thi.an@example.com'

/** The gateway has no outbox page when a real bank is configured, so visitors read their emails from the data folder. */
const newVisitor = () => new Visitor(running.url, { dataDir: running.dataDir })
const accountOf = async (email: string) =>
  Number((await running.database.sql`select account_id from account where email = ${email}`)[0]?.account_id)

beforeAll(async () => {
  const limits = { LIMIT_ADJUST_ASK_VND: '500000', LIMIT_ADJUST_VND_MAX: '9000000' }
  running = await startTestGateway({ environment: { ...TEST_BANK, SEPAY_WEBHOOK_SECRET: SECRET, ...limits } })
  const operators: Visitor[] = []
  for (const email of ['one@example.com', 'two@example.com']) {
    const operator = newVisitor()
    const { password } = await operator.signUp(email)
    await setRole(running.database.sql, { accountId: await accountOf(email), role: 'finance', by: COMMAND_LINE })
    await operator.post('/signin', { email, password })
    operators.push(operator)
  }
  ;[first, second] = operators as [Visitor, Visitor]
  an = newVisitor()
  await an.signUp(EMAIL)
  code = (await an.order('123.000')).replace('/topup/', '')
})
afterAll(() => running.close())

/** Receives a transfer that cannot be matched to an owner, and returns its number. */
async function waiting(memo: string, amountVnd: bigint, more = {}): Promise<number> {
  const services = testPayments(running.database.sql)
  const source = { provider: 'casso', via: 'webhook', notificationId: null } as const
  const [received] = await receiveTransactions(services, source, [transfer({ memo, amountVnd, ...more })])
  expect(received?.outcome).toBe('unmatched')
  return received!.bankTxnId
}

/** The text with the character at `index` changed. */
const slip = (text: string, index: number) =>
  `${text.slice(0, index)}${text[index] === '7' ? '8' : '7'}${text.slice(index + 1)}`

test('owners are suggested by a code with up to two typos, by an address in the memo, then by an open order of the amount', async () => {
  const { sql } = running.database
  const memos = {
    one: `MBVCB.99.${slip(code, 6).toLowerCase()}.CT tu 001`,
    two: slip(slip(code, 3), 9),
    missing: `${code.slice(0, 5)}${code.slice(6)} nap tien`,
    address: 'CT tu TRAN THI AN tran thi an example com nap tien',
    amount: 'nap tien',
    nothing: 'tien nha thang 11',
  }
  const numbers: Record<string, number> = {}
  for (const [name, memo] of Object.entries(memos)) {
    const amount = name === 'amount' ? 123_000n : 77_000n
    numbers[name] = await waiting(memo, amount)
  }
  const found = await suggestOwners(sql, await listUnmatched({ sql }))
  const reasons = Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [
      name,
      found.get(number)?.map(({ why, email, orderCode }) => [why, email, orderCode]),
    ]),
  )
  expect(reasons).toEqual({
    one: [['code', EMAIL, code]],
    two: [['code', EMAIL, code]],
    missing: [['code', EMAIL, code]],
    address: [['email', EMAIL, null]],
    amount: [['amount', EMAIL, code]],
    nothing: [],
  })
  expect(await suggestOwners(sql, [])).toEqual(new Map())
})

test('a suggestion fills the form of its transfer, and nothing is credited until it is sent', async () => {
  const before = await running.balance(await accountOf(EMAIL))
  // As the emails about transfers that wait link to it.
  expect((await first.get('/signin?next=/operator/transfers')).location).toBe('/operator/transfers')
  const page = await first.get('/operator/transfers')
  const [, link = ''] = /href="([^"]*fill[^"]*)"/.exec(page.html) ?? []
  const filled = await first.get(link.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='))
  expect(filled.html).toContain(`name="to" value="${code}"`)
  expect(readable(filled.html)).toContain('Filled in from the suggestion')
  expect(await running.balance(await accountOf(EMAIL))).toBe(before)
})

test('the log of a transfer that is credited as suggested does not contain the customer’s address', async () => {
  const number = await waiting('nap tien tran thi an example com', 32_000n)
  const page = await first.get(`/operator/transfers?after=${number - 1}`)
  const links = [...page.html.matchAll(/href="([^"]*fill[^"]*)"/g)].map(([, link]) =>
    (link as string).replaceAll('&amp;', '&').replaceAll('&#x3D;', '='),
  )
  const fill = new URL(links.find(link => link.includes('tran.thi.an')) as string, running.url).searchParams
  expect(fill.get('to')).toBe(EMAIL)
  const filled = { to: EMAIL, reason: fill.get('reason') as string }
  const given = await first.post(`/operator/transfers/${number}/assign`, filled)
  expect(given.location).toBe('/operator/transfers?done=assigned')
  const logged = await running.database
    .sql`select reason from operator_action where subject like ${`bank_txn:${number} %`}`
  expect(logged).toEqual([{ reason: filled.reason }])
  expect(filled.reason).not.toContain(EMAIL)
})

test('a transfer is assigned to a person by email, and what was typed stays if there is no such person', async () => {
  const number = await waiting('khong ro cua ai', 31_000n)
  const path = `/operator/transfers/${number}/assign`
  const typed = { to: 'nobody.with.a.long.address@example.com', reason: 'called us at 9' }
  const refused = await first.post(path, typed)
  expect(refused.status).toBe(422)
  expect(refused.html).toContain(`name="to" value="${typed.to}"`)
  expect(refused.html).toContain('value="called us at 9"')
  expect(refused.html).toContain(`id="${number}-to-fault"`)
  const silent = await first.post(path, { to: EMAIL, reason: '' })
  expect([silent.status, silent.html.includes(`id="${number}-reason-fault"`)]).toEqual([422, true])
  const before = await running.balance(await accountOf(EMAIL))
  const given = await first.post(path, { to: EMAIL.toUpperCase(), reason: 'called us' })
  expect(given.location).toBe('/operator/transfers?done=assigned')
  expect(await running.balance(await accountOf(EMAIL))).toBe(before + 31_000_000_000n)
})

test('an order code is read however it was copied: in groups, with lookalike letters, out of a memo', async () => {
  const before = await running.balance(await accountOf(EMAIL))
  const lookalike = code.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l')
  for (const to of [
    `${code.slice(0, 4)}-${code.slice(4, 8)}-${code.slice(8)}`,
    lookalike,
    `MBVCB.77.${code}.CT tu 001`,
  ]) {
    const number = await waiting('doc ma lenh', 21_000n)
    const given = await first.post(`/operator/transfers/${number}/assign`, { to, reason: 'on the phone' })
    expect([to, given.location]).toEqual([to, '/operator/transfers?done=assigned'])
  }
  expect(await running.balance(await accountOf(EMAIL))).toBe(before + 63_000_000_000n)
})

test('when two operators handle the same transfer, one wins, and the other is told who did what', async () => {
  const number = await waiting('hai nguoi', 44_000n)
  const before = await running.balance(await accountOf(EMAIL))
  const answers = await Promise.all([
    ...[1, 2, 3].map(() => first.post(`/operator/transfers/${number}/assign`, { to: EMAIL, reason: 'theirs' })),
    ...[1, 2, 3].map(() => second.post(`/operator/transfers/${number}/settle`, { as: 'returned', reason: 'back' })),
  ])
  const won = answers.filter(({ location }) => location.includes('done='))
  expect(won).toHaveLength(1)
  const lost = answers.find(({ location }) => location.includes('taken=')) as { location: string }
  const told = readable((await second.get(lost.location)).html)
  const isCredited = won[0]?.location.includes('assigned')
  expect(told).toContain(`Somebody else has already handled transfer ${number}, 44.000 ₫`)
  expect(told).toContain(isCredited ? `${EMAIL}, by one@example.com` : 'by two@example.com')
  const credited = isCredited ? 44_000_000_000n : 0n
  expect(await running.balance(await accountOf(EMAIL))).toBe(before + credited)
})

/** Notifies the gateway of a transfer as SePay does, and returns the reply's status. */
async function notify(memo: string, amountVnd: number): Promise<number> {
  const body = JSON.stringify({
    id: 20_261_121,
    transactionDate: '2026-11-21 09:59:58',
    accountNumber: TEST_BANK.BANK_ACCOUNT,
    content: memo,
    transferType: 'in',
    transferAmount: amountVnd,
    referenceCode: 'FT26325999',
  })
  const seconds = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex')
  const headers = { 'x-sepay-timestamp': seconds, 'x-sepay-signature': `sha256=${signature}` }
  return (await fetch(`${running.url}/webhooks/bank/sepay`, { method: 'POST', body, headers })).status
}

test('a transfer that may have been credited already shows which other one it may be, and outgoing money has a minus sign', async () => {
  const services = testPayments(running.database.sql)
  const source = { via: 'webhook', notificationId: null } as const
  const given = { memo: `nap ${code}`, amountVnd: 45_000n }
  const [paid] = await receiveTransactions(services, { provider: 'sepay', ...source }, [transfer(given)])
  expect(paid?.outcome).toBe('credited')
  const number = await waiting(given.memo, given.amountVnd)
  const shown = readable((await first.get(`/operator/transfers?after=${number - 1}`)).html)
  expect(shown).toMatch(
    new RegExp(`May be the same as #${paid!.bankTxnId} · 45\\.000 ₫ · [\\d/: ]+ · sepay Credited ${EMAIL} ${code}`),
  )
  await receiveTransactions(services, { provider: 'sepay', ...source }, [transfer({ ...given, direction: 'out' })])
  const all = readable((await first.get('/operator/transfers')).html.split('id="all"')[1] ?? '')
  expect(all).toContain(`-45.000 ₫ nap ${code}`)
})

test('a transfer to a deleted account waits to be returned, and nobody can credit it', async () => {
  const { sql } = running.database
  const leaving = newVisitor()
  await leaving.signUp('leaving@example.com')
  const accountId = await accountOf('leaving@example.com')
  const order = (await leaving.order('50.000')).replace('/topup/', '')
  expect((await leaving.post('/account/delete', { confirm: 'leaving@example.com' })).location).toBe('/account/deleted')
  expect(await notify(`${order} nap tien`, 50_000)).toBe(200)
  const [row] = await sql`select bank_txn_id, state, account_id from bank_txn where bank_ref = 'FT26325999'`
  expect(row).toMatchObject({ state: 2, account_id: null })
  expect(await running.balance(accountId)).toBe(0n)

  const id = Number(row?.bank_txn_id)
  const { html } = await first.get('/operator/transfers')
  const card = html.slice(html.indexOf(`id="transfer-${id}"`)).split('</article>')[0] as string
  expect(readable(card)).toContain('Account deleted: return it')
  expect(card).toContain('<details class="more" open>')
  expect(card).not.toContain('@deleted.invalid')
  for (const to of [order, String(accountId), `deleted-${accountId}@deleted.invalid`]) {
    const refused = await first.post(`/operator/transfers/${id}/assign`, { to, reason: 'theirs' })
    expect([to, refused.status, readable(refused.html).includes('Its owner has deleted this account.')]).toEqual([
      to,
      422,
      true,
    ])
  }
  expect(await running.balance(accountId)).toBe(0n)
  const returned = await first.post(`/operator/transfers/${id}/settle`, { as: 'returned', reason: 'account deleted' })
  expect(returned.location).toContain('done=settled')
})

test('an account that its owner has deleted is credited neither by hand nor by a refund, but can be paid out', async () => {
  const leaving = newVisitor()
  await leaving.signUp('paid.out@example.com')
  const accountId = await accountOf('paid.out@example.com')
  const { callId } = await chargedCall(accountId)
  const confirm = { confirm: 'paid.out@example.com' }
  expect((await leaving.post('/account/delete', confirm)).location).toBe('/account/deleted')
  const before = await running.balance(accountId)
  const adjust = (amount: string) =>
    first.post(`/operator/accounts/${accountId}/adjust`, {
      amount,
      reason: 'goodwill',
      submission: crypto.randomUUID(),
    })
  for (const refused of [
    await adjust('1.000'),
    await first.post(`/operator/calls/${callId}/refund`, { reason: 'slow' }),
  ]) {
    expect(refused.status).toBe(422)
    expect(readable(refused.html)).toContain('nobody could spend the money')
  }
  expect(await running.balance(accountId)).toBe(before)
  expect((await adjust('-1')).location).toContain('done=adjusted')
  expect(await running.balance(accountId)).toBe(before - 1_000_000n)
})

test('finance operators cannot credit operators’ accounts: not by a transfer, an entry or a refund; an owner can', async () => {
  const { sql } = running.database
  const operatorId = await accountOf('two@example.com')
  const order = (await second.order('98.000')).replace('/topup/', '')
  const number = await waiting('tien cua toi', 98_000n)
  const { callId } = await chargedCall(operatorId)
  const assign = `/operator/transfers/${number}/assign`
  const deeds = [
    [assign, { to: 'two@example.com', reason: 'mine' }],
    [assign, { to: order, reason: 'mine' }],
    [assign, { to: String(operatorId), reason: 'mine' }],
    ['/operator/transfers', { reference: 'FT700', amount: '98.000', memo: `nap ${order}`, reason: 'mine' }],
    [`/operator/calls/${callId}/refund`, { reason: 'mine' }],
  ] as const
  const before = await running.balance(operatorId)
  for (const [path, form] of deeds) {
    const { status, html } = await second.post(path, form)
    expect([path, status, readable(html).includes('only an owner may change it')]).toEqual([path, 403, true])
  }
  expect(await running.balance(operatorId)).toBe(before)
  const owner = newVisitor()
  const { password } = await owner.signUp('owner@example.com')
  await setRole(sql, { accountId: await accountOf('owner@example.com'), role: 'owner', by: COMMAND_LINE })
  await owner.post('/signin', { email: 'owner@example.com', password })
  expect((await owner.post(assign, { to: order, reason: 'on the statement' })).location).toContain('done=assigned')
  expect((await owner.post(`/operator/calls/${callId}/refund`, { reason: 'slow' })).location).toContain('done=refunded')
  expect(await running.balance(operatorId)).toBe(before + 98_000n * 1_000_000n + CALL_MICRO_VND)
})

test('customers see which call a refund is for', async () => {
  const { callId } = await chargedCall(await accountOf(EMAIL))
  const refunded = await first.post(`/operator/calls/${callId}/refund`, { reason: 'slow' })
  expect(refunded.location).toContain('done=refunded')
  const text = readable((await an.get('/topup')).html)
  expect(text).toMatch(new RegExp(`Refund 1,68 ₫ [\\d.,]+ ₫ ${requestIdOf(callId)}`))
  expect(text).not.toContain('slow')
})

/** Charges an account for a call. */
async function chargedCall(accountId: number) {
  const { sql } = running.database
  const amountMicroVnd = microVnd(10n * CALL_MICRO_VND)
  await credit(sql, { accountId, amountMicroVnd, kind: 'adjustment', reference: 'for a call' })
  const ended = settlement({ accountId, keyId: 1 })
  await settleCalls(poolOf(sql), [ended])
  return ended
}

test('the search finds transfers by reference, memo, payer, amount and owner, in any state, page by page', async () => {
  await waiting('tien com trua_50%', 61_234n, { bankReference: 'FT26326001', payer: 'LE VAN BINH' })
  const found = async (query: string) => {
    const { status, html } = await first.get(`/operator/transfers?${query}`)
    expect([query, status]).toEqual([query, 200])
    return readable(html.split('id="all"')[1] ?? '')
  }
  for (const q of ['FT26326001', 'ft2632', 'com trua_50%', 'van binh', '61.234', '61234 đ']) {
    expect([q, await found(`q=${encodeURIComponent(q)}`)]).toEqual([q, expect.stringContaining('61.234 ₫ tien com')])
  }
  expect(await found(`q=${encodeURIComponent(EMAIL)}`)).toContain('31.000 ₫ khong ro cua ai')
  expect(await found('q=FT26326001&state=credited')).toContain('No transfers found')
  for (const q of ['%', '_____________', "'", '\\', '\u0000']) {
    expect([q, await found(`q=${encodeURIComponent(`${q}zz`)}`)]).toEqual([
      q,
      expect.stringContaining('No transfers found'),
    ])
  }
  const services = testPayments(running.database.sql)
  for (let nth = 0; nth < 55; nth++) {
    await enterTransfer(services, {
      bankReference: `PAGE${nth}`,
      amountVnd: 1_000 + nth,
      memo: 'nhieu',
      accountNumber: BANK.accountNumber,
      by: COMMAND_LINE,
      reason: 'test',
    })
  }
  const html = (await first.get('/operator/transfers?q=nhieu')).html
  const [, next = ''] = /href="([^"]*before[^"]*)"/.exec(html) ?? []
  const rest =
    (await first.get(next.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='))).html.split('id="all"')[1] ?? ''
  expect(rest.match(/PAGE\d+</g)).toEqual(['PAGE4<', 'PAGE3<', 'PAGE2<', 'PAGE1<', 'PAGE0<'])
  const [, cards = ''] = /href="([^"]*after[^"]*)"/.exec(html) ?? []
  expect((await first.get(cards.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='))).html).toContain('id="transfer-')
})

test('a mistake in a transfer entered by hand is named at its field, and the other fields stay', async () => {
  const good = { reference: 'FT9', amount: '5.000', memo: 'x y', reason: 'statement' }
  for (const [name, value] of [
    ['reference', '--'],
    ['amount', '-5.000'],
    ['amount', '9999999999999'],
    ['amount', 'abc'],
    ['reason', ''],
  ] as const) {
    const { status, html } = await first.post('/operator/transfers', { ...good, [name]: value })
    expect([name, value, status, html.includes(`id="enter-${name}-fault"`)]).toEqual([name, value, 422, true])
    expect(html).toContain('name="memo" value="x y"')
  }
})

test('a transfer entered by hand has the limits of other manual balance changes', async () => {
  const account = await accountOf(EMAIL)
  const before = await running.balance(account)
  const gained = async () => ((await running.balance(account)) - before) / 1_000_000n
  const form = { reference: 'FT9000', amount: '9.000.001', memo: `nap ${code}`, reason: 'on the statement' }
  const above = await first.post('/operator/transfers', { ...form, confirmed: '9000001' })
  expect([above.status, readable(above.html)]).toEqual([422, expect.stringContaining('At most 9.000.000 ₫ here')])
  const large = { ...form, amount: '700.000' }
  for (const confirmed of ['', '70000', '9000001']) {
    const asked = await first.post('/operator/transfers', { ...large, confirmed })
    expect(readable(asked.html)).toContain('Is the transfer FT9000 really 700.000 ₫?')
    expect(asked.html).toContain('name="confirmed" value="700000"')
    expect(asked.html).toContain(`name="memo" value="nap ${code}"`)
  }
  expect(await gained()).toBe(0n)
  const entered = await first.post('/operator/transfers', { ...large, confirmed: '700000' })
  expect([entered.status, entered.location]).toEqual([303, '/operator/transfers?done=entered'])
  expect(await gained()).toBe(700_000n)
})

test('who enters a transfer that was already reported is told whether it waits for an owner or was credited', async () => {
  const number = await waiting('khong ghi ma', 77_000n, {
    bankReference: 'FT800',
    accountNumber: TEST_BANK.BANK_ACCOUNT,
  })
  const form = { reference: 'ft 800', amount: '77.000', memo: `nap ${code}`, reason: 'on the statement' }
  const before = await running.balance(await accountOf(EMAIL))
  const entered = await first.post('/operator/transfers', form)
  const told = readable((await first.get(entered.location)).html)
  expect(told).toContain(`Transfer ${number}, 77.000 ₫, waits below for a decision. To another account.`)
  expect(told).not.toContain('already handled')
  expect(told).toContain('Memo khong ghi ma Bank reference FT800')
  await first.post(`/operator/transfers/${number}/assign`, { to: EMAIL, reason: 'sent the receipt' })
  const again = readable((await second.get((await second.post('/operator/transfers', form)).location)).html)
  expect(again).toContain(`Somebody else has already handled transfer ${number}, 77.000 ₫. Credited: ${EMAIL}`)
  expect(await running.balance(await accountOf(EMAIL))).toBe(before + 77_000n * 1_000_000n)
})

test('who enters a transfer again under a mistyped reference is not told that nobody has been credited', async () => {
  const form = { reference: 'FT7001', amount: '7.000', memo: `nap ${code}`, reason: 'on the statement' }
  expect((await first.post('/operator/transfers', form)).location).toBe('/operator/transfers?done=entered')
  const again = await first.post('/operator/transfers', { ...form, reference: 'FT7010' })
  const told = readable((await first.get(again.location)).html)
  expect(told).toMatch(
    /Transfer \d+, 7\.000 ₫, waits below for a decision\. Possibly credited already: same order and amount as another\./,
  )
})

test('a transfer entered by hand is marked as such in the reader’s language', async () => {
  const form = { reference: 'FTHAND1', amount: '5.000', memo: 'no order', reason: 'on the statement' }
  const told = readable((await first.get((await first.post('/operator/transfers', form)).location)).html)
  expect(told).toMatch(/Transfer \d+, 5\.000 ₫, waits below for a decision\. No order code\./)
  const marks = async (language: string) => {
    const { html } = await first.get('/operator/transfers?q=FTHAND1', { 'accept-language': language })
    return [readable(html).includes('entered by hand'), readable(html).includes('nhập tay')]
  }
  expect([await marks('en'), await marks('vi')]).toEqual([
    [true, false],
    [false, true],
  ])
})

test('the audit finds no difference after all these actions', () => expectCleanAudit(running.database.sql))

test('a search says how far back it compared memos, and leads further back', async () => {
  await waiting('the needle', 4_321n)
  await running.database.sql`
    insert into bank_txn (provider, provider_ref, account_no, amount_vnd, direction, content, via, state, state_at)
    select 'hay', 'hay' || n, '1', 10, 1, 'hay', 1, 3, now() from generate_series(1, ${COMPARED_MAX}) n`
  const page = async (path: string) => (await first.get(path)).html.split('id="all"')[1] ?? ''
  const near = await page('/operator/transfers?q=needle')
  expect(readable(near)).toMatch(
    /No transfers found .*memos and payers only in those received since \d\d\/\d\d\/\d{4}.*Search further back/,
  )
  const [, next = ''] = /href="([^"]*before[^"]*)"/.exec(near) ?? []
  const far = readable(await page(next.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=')))
  expect(far).toContain('4.321 ₫ the needle')
  expect(far).not.toContain('Search further back')
})
