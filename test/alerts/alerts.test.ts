/**
 * Alerts to customers: each is sent once, unless the customer has turned its kind off, and never contains anything from the
 * content of their calls.
 */

import { afterAll, expect, test } from 'vitest'
import type { FoundKey } from '../../src/accounts/find-key.ts'
import { setKeyCap } from '../../src/accounts/key-settings.ts'
import { createKey, revokeKey } from '../../src/accounts/keys.ts'
import { playgroundKey } from '../../src/accounts/playground-key.ts'
import { endSession, openSession } from '../../src/accounts/sessions.ts'
import { retiringModels } from '../../src/alerts/find-slow.ts'
import { ALERT_LIMITS } from '../../src/alerts/limits.ts'
import { ALERT_MAILS } from '../../src/alerts/mail-texts.ts'
import { findAlerts, findSlowAlerts, sweepAlerts } from '../../src/alerts/run.ts'
import { readAlertSettings, switchMailOff, writeAlertSettings } from '../../src/alerts/settings.ts'
import { readUnsubscribeToken } from '../../src/alerts/unsubscribe.ts'
import { LIMITS } from '../../src/app/limits.ts'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { credit } from '../../src/ledger/credit.ts'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { MAIL_SEND_MS } from '../../src/lib/mail.ts'
import { vndToMicro } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { newcomer, testPeople, visitor } from '../accounts/people.ts'
import { newOrder, receive, testPayments, transfer, warmUp } from '../payments/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { deliverAlerts, newCustomer, spend, type TestCustomer, testAlerts, topUp } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const alerts = testAlerts(sql)
const keySecrets = { service: 'svc', ...alerts.secrets }
const payments = testPayments(sql)
const people = testPeople(sql)
afterAll(() => database.drop())

/** Searches for new alerts, emails them, and returns the subjects of this customer's new emails. */
async function newSubjects({ email }: Pick<TestCustomer, 'email'>): Promise<string[]> {
  await findAlerts(alerts)
  await deliverAlerts(alerts)
  return alerts
    .mailsTo(email)
    .map(mail => mail.subject)
    .sort()
}

test('a balance that becomes low and then empty is reported once each, and again after the next top-up', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 500_000)
  await spend(sql, customer, 449_000)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 2_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is low: 49.000\u00a0₫ left'])
  await spend(sql, customer, 1_000)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 48_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is used up'])
  expect(await newSubjects(customer)).toEqual([])
  await topUp(sql, customer, 500_000)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 460_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is low: 40.000\u00a0₫ left'])
  // A top-up that is spent before the next search for alerts still counts as a new top-up.
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 140_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is used up'])
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 100_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is used up'])
})

test('nothing is written for an account whose deletion commits while a finder runs', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 500_000)
  await spend(sql, customer, 499_000)
  let finding: Promise<unknown> | undefined
  await sql.begin(async transaction => {
    await transaction`update account set deleted_at = now() where account_id = ${customer.accountId}`
    finding = findAlerts(alerts)
    const waiting = () =>
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(waiting).toHaveLength(1)
  })
  await finding
  expect(await sql`select kind from alert where account_id = ${customer.accountId}`).toEqual([])
})

test('a small top-up counts as low when a fifth of it is left, not at its first call', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 50_000)
  await spend(sql, customer, 1)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 40_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is low: 9.999\u00a0₫ left'])
})

test('the refund of a call neither lowers the amount that counts as low, nor repeats the alert; money after an empty balance can be used up again', async () => {
  const customer = await newCustomer(sql)
  const { accountId } = customer
  const refund = (vnd: number) =>
    credit(sql, {
      accountId,
      amountMicroVnd: vndToMicro(vnd),
      kind: 'refund',
      reference: `call:${crypto.randomUUID()}`,
    })
  await topUp(sql, customer, 500_000)
  await spend(sql, customer, 440_000)
  await refund(100)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 20_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is low: 40.100\u00a0₫ left'])
  await refund(100)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 35_000)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 5_200)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is used up'])
  await refund(100)
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 100)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is used up'])
})

test('a balance is low if it lasts less than three days at last week’s pace, or is below the customer’s own figure', async () => {
  const fast = await newCustomer(sql)
  await topUp(sql, fast, 2_000_000)
  await spend(sql, fast, 800_000, { daysAgo: 1 })
  await spend(sql, fast, 100_000)
  // 1,100,000 dong are left, and last week's pace is 450,000 a day.
  expect(await newSubjects(fast)).toEqual(['Your SVC balance is low: 1.100.000\u00a0₫ left'])
  // An alert is not repeated when the pace slows down and speeds up again.
  const yesterday = sql`account_id = ${fast.accountId} and day < (now() at time zone 'Asia/Ho_Chi_Minh')::date`
  for (const charged of [0n, 800_000_000_000n]) {
    await sql`update usage_daily set charged_micro_vnd = ${String(charged)} where ${yesterday}`
    expect(await newSubjects(fast)).toEqual([])
  }
  // The alert is not repeated after a top-up that leaves the balance low.
  await topUp(sql, fast, 100_000)
  expect(await newSubjects(fast)).toEqual([])
  const careful = await newCustomer(sql)
  await topUp(sql, careful, 2_000_000)
  await writeAlertSettings(sql, careful.accountId, { mail: new Set(), lowVnd: 1_500_000 })
  await switchMailOff(sql, careful.accountId, 'balance.empty')
  await spend(sql, careful, 600_000)
  expect(await newSubjects(careful)).toEqual([])
  const [alert] = await sql`select kind, data from alert where account_id = ${careful.accountId}`
  expect(alert).toEqual({
    kind: 'balance.low',
    data: { balance: '1400000', threshold: '1500000', days_left: null, currency: 'VND' },
  })
})

test('money that an operator takes back empties a low balance, also of a customer who has not called for days', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 95_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is low: 5.000\u00a0₫ left'])
  await sql`update usage_daily set day = day - 10 where account_id = ${customer.accountId}`
  expect(await newSubjects(customer)).toEqual([])
  await topUp(sql, customer, -5_000)
  expect(await newSubjects(customer)).toEqual(['Your SVC balance is used up'])
})

test('concurrent searches record a crossed limit once, and concurrent deliverers email it once', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 95_000)
  await warmUp(sql)
  await Promise.all(Array.from({ length: 6 }, () => findAlerts(alerts)))
  const rows = await sql`select alert_id from alert where account_id = ${customer.accountId}`
  expect(rows).toHaveLength(1)
  const more = 59
  await sql`insert into alert_delivery (alert_id, account_id)
    select ${rows[0]?.alert_id}::uuid, ${customer.accountId} from generate_series(1, ${more})`
  await Promise.all(Array.from({ length: 6 }, () => deliverAlerts(alerts)))
  expect(alerts.mailsTo(customer.email)).toHaveLength(1 + more)
})

test('a key is reported at 80 % and at 100 % of its spend limit, and again when the limit changes', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 9_000_000)
  const { keyId, key } = await createKey(sql, keySecrets, { accountId: customer.accountId, label: 'build' })
  const last4 = key.slice(-4)
  await setKeyCap(sql, { accountId: customer.accountId, keyId, capVnd: 10_000 })
  expect(await newSubjects(customer)).toEqual([`API key build (…${last4}) was created`])
  await spend(sql, customer, 7_999, { keyId })
  expect(await newSubjects(customer)).toEqual([])
  await spend(sql, customer, 1, { keyId })
  expect(await newSubjects(customer)).toEqual([`API key build (…${last4}) has used 80% of its limit`])
  await spend(sql, customer, 2_000, { keyId })
  expect(await newSubjects(customer)).toEqual([`API key build (…${last4}) has used 100% of its limit`])
  expect(await newSubjects(customer)).toEqual([])
  await setKeyCap(sql, { accountId: customer.accountId, keyId, capVnd: 12_000 })
  expect(await newSubjects(customer)).toEqual([`API key build (…${last4}) has used 80% of its limit`])
  await revokeKey(sql, { accountId: customer.accountId, keyId })
  expect(await newSubjects(customer)).toEqual([`API key build (…${last4}) was revoked`])
})

test('a limit that never resets is reported as reached once, however long ago that was', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 9_000_000)
  const { keyId } = await createKey(sql, keySecrets, { accountId: customer.accountId })
  await setKeyCap(sql, { accountId: customer.accountId, keyId, capVnd: 10_000 })
  await sql`update api_key set limit_reset = null where key_id = ${keyId}`
  await spend(sql, customer, 10_000, { keyId })
  expect(await newSubjects(customer)).toHaveLength(2)
  await sql`update alert set at = now() - interval '91 days' where account_id = ${customer.accountId}`
  await sql`update api_key set created_at = now() - interval '91 days' where key_id = ${keyId}`
  await sweepAlerts(alerts)
  expect(await newSubjects(customer)).toEqual([])
  const kinds = await sql`select kind from alert where account_id = ${customer.accountId}`
  expect(kinds.map(({ kind }) => kind)).toEqual(['key.limit_reached'])
})

test('the key behind the playground raises no alerts: neither when it is created nor when its daily limit is spent', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 9_000_000)
  const given = { accountId: customer.accountId, dailyVndMax: 1_000 }
  const { keyId } = (await playgroundKey(sql, keySecrets, given)) as FoundKey
  await spend(sql, customer, 1_000, { keyId })
  expect(await newSubjects(customer)).toEqual([])
  await revokeKey(sql, { accountId: customer.accountId, keyId })
  expect(await newSubjects(customer)).toEqual([])
})

test('a credited transfer is reported to its owner, and one without an owner to the operators who may assign it', async () => {
  const customer = await newCustomer(sql)
  const [finance, support] = [await newCustomer(sql), await newCustomer(sql)]
  await sql`update account set is_operator = true, operator_role = 2 where account_id = ${finance.accountId}`
  await sql`update account set is_operator = true, operator_role = 3 where account_id = ${support.accountId}`
  const { orderCode } = await newOrder(payments, 70_000, customer.accountId)
  await receive(payments, transfer({ amountVnd: 70_000n, memo: `MBVCB ${orderCode}`, bankReference: 'FT1' }))
  await receive(payments, transfer({ amountVnd: 33_000n, memo: 'nothing that we know' }))
  await findAlerts(alerts)
  await findAlerts(alerts)
  await deliverAlerts(alerts)
  const sent = alerts.mails.splice(0)
  expect(sent.map(mail => [mail.to, mail.subject]).sort()).toEqual(
    [
      [customer.email, 'SVC received 70.000\u00a0₫'],
      [finance.email, 'A transfer of 33.000\u00a0₫ is waiting for an operator'],
    ].sort(),
  )
  const toFinance = sent.find(each => each.to === finance.email)
  expect(toFinance?.text).toMatch(
    /^Transfer \d+, 33\.000\u00a0₫, was not credited automatically\.\n\nSee why, and decide: https:\/\/gateway\.test\/signin\?next=\/operator\/transfers\n/,
  )
  const mail = sent.find(each => each.to === customer.email)
  expect(mail?.text).toContain(`Order: ${orderCode}\nBank reference: FT1\n`)
  expect(mail?.text).toContain(`https://gateway.test/topup/${orderCode}/receipt`)
})

test('events are reported although the clock of the database was set back by a year', async () => {
  const customer = await newCustomer(sql)
  await sql`update alert_scan set scanned_at = now() + interval '1 year'`
  const { orderCode } = await newOrder(payments, 50_000, customer.accountId)
  await receive(payments, transfer({ amountVnd: 50_000n, memo: `MBVCB ${orderCode}` }))
  expect(await newSubjects(customer)).toEqual(['SVC received 50.000\u00a0₫'])
  expect(await sql`select scanned_at <= now() as is_past from alert_scan`).toEqual([{ is_past: true }])
})

test('while one kind of alert cannot be found, the others are, and it is found once it can be', async () => {
  const customer = await newCustomer(sql)
  await createKey(sql, keySecrets, { accountId: customer.accountId })
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 100_000)
  await sql`alter table credit rename to credit_away`
  await expect(findAlerts(alerts)).rejects.toThrow('relation "credit" does not exist')
  await sql`alter table credit_away rename to credit`
  const recorded = async () =>
    (await sql`select kind from alert where account_id = ${customer.accountId} order by alert_id`).map(row => row.kind)
  expect(await recorded()).toEqual(['key.created'])
  await findAlerts(alerts)
  expect(await recorded()).toEqual(['key.created', 'balance.empty'])
})

test('a sign-in on a new device is reported, a registration and a known device are not', async () => {
  const email = 'traveller@example.com'
  const opened = await newcomer(people, email)
  const { accountId } = opened.session
  expect(await newSubjects({ email })).toEqual([])
  const signIn = (device: string | null) =>
    openSession(sql, people.limits, { accountId, visitor: visitor({ device, language: 'en' }) })
  await signIn(opened.device)
  expect(await newSubjects({ email })).toEqual([])
  await signIn(null)
  await findAlerts(alerts)
  await deliverAlerts(alerts)
  const [mail, ...more] = alerts.mailsTo(email)
  expect([mail?.subject, more]).toEqual(['New sign-in to SVC', []])
  expect(mail?.text).toContain('Device: Chrome, Windows\n')
  // A thief signs out before the next search for alerts.
  const { session } = await signIn(null)
  await endSession({ sql }, session)
  expect(await newSubjects({ email })).toEqual(['New sign-in to SVC'])
  expect(await newSubjects({ email })).toEqual([])
})

test('emails are in the language of the last sign-in, and in Vietnamese before the first one', async () => {
  const customer = await newCustomer(sql)
  await sql`update account set language = null where account_id = ${customer.accountId}`
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 100_000)
  expect(await newSubjects(customer)).toEqual(['Số dư tại SVC đã hết'])
  const { accountId } = customer
  await openSession(sql, people.limits, { accountId, visitor: visitor({ language: 'en' }) })
  expect(await newSubjects(customer)).toEqual(['New sign-in to SVC'])
})

test('people who used a model in the last 30 days are told of its retirement 30 and 7 days before, and nobody else is', async () => {
  const { items } = createCatalogue(TABLES)
  const ending = items.find(({ entry }) => entry.deprecated?.retiresOn)?.entry
  const end = Date.parse(`${ending?.deprecated?.retiresOn}T00:00:00Z`)
  const at = (days: number) => {
    const due = retiringModels(items, end - days * 86_400_000, [7, 30])
    return due.find(({ model }) => model === ending?.id)?.days
  }
  expect([31, 30, 8, 7, 1, 0, -1].map(at)).toEqual([undefined, 30, 30, 7, 7, undefined, undefined])
  const [user, former, other] = [await newCustomer(sql), await newCustomer(sql), await newCustomer(sql)]
  for (const customer of [user, former, other]) await topUp(sql, customer, 9_000_000)
  const model = ending?.id as string
  await spend(sql, user, 10, { model, daysAgo: 20 })
  await spend(sql, former, 10, { model, daysAgo: 40 })
  await spend(sql, other, 10, { model: 'none', daysAgo: 1 })
  for (const days of [40, 29, 28, 6, 5]) await findSlowAlerts({ ...alerts, nowMs: () => end - days * 86_400_000 })
  await deliverAlerts(alerts)
  const rows = await sql`select account_id::integer as id, data ->> 'model' as model from alert
    where kind = 'model.retiring' and account_id in ${sql([user, former, other].map(each => each.accountId))}`
  expect(rows.map(row => [row.id, row.model])).toEqual([
    [user.accountId, model],
    [user.accountId, model],
  ])
  alerts.mails.splice(0)
})

test('the weekly summary goes to those who asked for it, once a week', async () => {
  const [wants, does] = [await newCustomer(sql), await newCustomer(sql)]
  await writeAlertSettings(sql, wants.accountId, { mail: new Set(['summary.weekly']), lowVnd: null })
  for (const customer of [wants, does]) {
    await topUp(sql, customer, 9_000_000)
    for (let daysAgo = 0; daysAgo < 15; daysAgo++) await spend(sql, customer, 1_000, { daysAgo })
  }
  await findSlowAlerts(alerts)
  await findSlowAlerts(alerts)
  await deliverAlerts(alerts)
  const sent = alerts.mails.splice(0)
  expect(sent.map(mail => [mail.to, mail.subject])).toEqual([[wants.email, 'Your week at SVC: 7.000\u00a0₫']])
  expect(sent[0]?.text).toContain('gpt-5.5: 7 calls, 7.000\u00a0₫')
})

test('each email that can be unsubscribed from has a link for it, and the others have none', async () => {
  const customer = await newCustomer(sql)
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 100_000)
  await createKey(sql, keySecrets, { accountId: customer.accountId, label: 'x' })
  await findAlerts(alerts)
  await deliverAlerts(alerts)
  const sent = alerts.mailsTo(customer.email)
  const [empty, created] = ['used up', 'created'].map(words => sent.find(mail => mail.subject.includes(words)))
  expect(created?.unsubscribeUrl).toBeUndefined()
  const url = new URL(empty?.unsubscribeUrl ?? '')
  expect(empty?.text).toContain(`Stop these emails: ${url.href}\n`)
  const token = url.searchParams.get('token') as string
  const { peppers } = alerts.secrets
  expect(readUnsubscribeToken(peppers, token)).toEqual({ accountId: customer.accountId, kind: 'balance.empty' })
  const [pepper, , ...rest] = token.split('.')
  const forged = [pepper, String(customer.accountId + 1), ...rest].join('.')
  for (const wrong of [forged, token.replace('empty', 'low'), token.slice(0, -1), `${token}x`, '', 'x'.repeat(9_999)]) {
    expect(readUnsubscribeToken(peppers, wrong)).toBeNull()
  }
  const others = parseSecretSet('KEY_PEPPERS', generateSecretSet())
  expect(readUnsubscribeToken(others, token)).toBeNull()
  await switchMailOff(sql, customer.accountId, 'balance.empty')
  const settings = await readAlertSettings(sql, customer.accountId)
  expect([settings.mail.has('balance.empty'), settings.mail.has('balance.low')]).toEqual([false, true])
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 100_000)
  expect(await newSubjects(customer)).toEqual([])
})

test('alerts that cannot be turned off are always sent, and unconfirmed addresses get nothing', async () => {
  const stranger = await newCustomer(sql, { isVerified: false })
  await createKey(sql, keySecrets, { accountId: stranger.accountId })
  expect(await newSubjects(stranger)).toEqual([])
  const customer = await newCustomer(sql)
  await writeAlertSettings(sql, customer.accountId, { mail: new Set(), lowVnd: null })
  expect([...(await readAlertSettings(sql, customer.accountId)).mail].sort()).toEqual([
    'key.created',
    'session.new',
    'topup.credited',
    'webhook.disabled',
  ])
  await switchMailOff(sql, 999_999, 'balance.low')
  expect(await sql`select from alert_settings where account_id = 999999`).toHaveLength(0)
})

test('an email that the server refuses is retried at growing intervals, and given up in the end', async () => {
  const customer = await newCustomer(sql)
  await createKey(sql, keySecrets, { accountId: customer.accountId })
  await findAlerts(alerts)
  const state = async () => {
    const [row] =
      await sql`select state, tries, extract(epoch from next_at - now())::integer as pause from alert_delivery
      where account_id = ${customer.accountId}`
    return row as unknown as { state: number; tries: number; pause: number }
  }
  const skip = () => sql`update alert_delivery set next_at = now() where account_id = ${customer.accountId}`
  alerts.refuseMails = true
  const pauses: number[] = []
  for (let tries = 0; tries < 6; tries++) {
    await deliverAlerts(alerts)
    pauses.push((await state()).pause)
    await skip()
  }
  expect(pauses.slice(0, 5).map(pause => Math.round(pause / 60))).toEqual([1, 5, 30, 120, 720])
  expect(await state()).toMatchObject({ state: 2, tries: 6 })
  alerts.refuseMails = false
  await deliverAlerts(alerts)
  expect(alerts.mailsTo(customer.email)).toEqual([])
})

test('a delivery whose process died at each attempt is given up', async () => {
  const customer = await newCustomer(sql)
  await createKey(sql, keySecrets, { accountId: customer.accountId })
  await findAlerts(alerts)
  const attempts = 1 + ALERT_LIMITS.mailPausesSeconds.length
  await sql`update alert_delivery set tries = ${String(attempts)}::text::smallint where account_id = ${customer.accountId}`
  await deliverAlerts(alerts)
  expect(alerts.mailsTo(customer.email)).toEqual([])
  expect(await sql`select state from alert_delivery where account_id = ${customer.accountId}`).toEqual([{ state: 2 }])
})

test('an email that was sent while Postgres went away is not sent again once it is back', async () => {
  const customer = await newCustomer(sql)
  await createKey(sql, keySecrets, { accountId: customer.accountId })
  await findAlerts(alerts)
  let failures = 3
  const unsafe: typeof sql.unsafe = (statement, ...rest) => {
    if (statement.startsWith('update alert_delivery set state') && failures-- > 0)
      return Promise.reject(Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' })) as never
    return sql.unsafe(statement, ...rest)
  }
  await deliverAlerts({ ...alerts, sql: Object.assign(Object.create(sql), { unsafe }) })
  expect(alerts.mailsTo(customer.email)).toHaveLength(1)
  await sql`update alert_delivery set next_at = now() where account_id = ${customer.accountId}`
  await deliverAlerts(alerts)
  expect(alerts.mailsTo(customer.email)).toEqual([])
})

test('an email or a post ends before its claim does, so that no other process sends it as well', () => {
  const { claimSeconds } = ALERT_LIMITS
  const { max } = LIMITS.webhookTimeoutMs
  expect(MAIL_SEND_MS).toBeLessThan(claimSeconds * 1_000)
  expect(max).toBeLessThan(claimSeconds * 1_000)
})

test('one account gets a limited number of emails a day, and alerts are deleted with their deliveries', async () => {
  const few = testAlerts(sql, { limits: { mailsPerDayMax: 3 } })
  const customer = await newCustomer(sql)
  // Whoever takes over an account must not silence the emails by testing a webhook.
  await sql`insert into alert (account_id, kind, reference, data)
    select ${customer.accountId}, 'webhook.test', 'test ' || number, '{}' from generate_series(1, 3) as number`
  const { keyId: first } = await createKey(sql, keySecrets, { accountId: customer.accountId })
  await findAlerts(few)
  await deliverAlerts(few)
  expect(few.mailsTo(customer.email)).toHaveLength(1)
  await sql`delete from alert where account_id = ${customer.accountId} and kind = 'webhook.test'`
  await revokeKey(sql, { accountId: customer.accountId, keyId: first })
  for (let made = 0; made < 4; made++) {
    const { keyId } = await createKey(sql, keySecrets, { accountId: customer.accountId })
    await revokeKey(sql, { accountId: customer.accountId, keyId })
    await findAlerts(few)
  }
  await deliverAlerts(few)
  expect(few.mailsTo(customer.email).length).toBeLessThanOrEqual(3)
  const count = async () => {
    const [row] =
      await sql`select (select count(*) from alert where account_id = ${customer.accountId})::integer as alerts,
      (select count(*) from alert_delivery where account_id = ${customer.accountId})::integer as deliveries`
    return row
  }
  expect((await count())?.alerts).toBe(10)
  await sql`update alert set at = now() - interval '91 days' where account_id = ${customer.accountId}`
  await sweepAlerts(few)
  expect(await count()).toEqual({ alerts: 0, deliveries: 0 })
})

test.each([
  [0, '40.000\u00a0₫, less than a day at your current pace.'],
  [1, '40.000\u00a0₫, about 1 day at your current pace.'],
  [40, '40.000\u00a0₫, about 40 days at your current pace.'],
  [366, '40.000\u00a0₫.'],
  [null, '40.000\u00a0₫.'],
])('the email about a balance that lasts %j days foretells at most a year', (days_left, says) => {
  const data = { balance: '40000', threshold: '50000', days_left, currency: 'VND' } as const
  const { text } = ALERT_MAILS['balance.low'].en(data, { service: 'SVC', publicUrl: 'https://svc.example' })
  expect(text).toContain(`Your balance is ${says}\n`)
})

test.each([
  ['monthly', 'until the limit resets or you raise it.'],
  [null, 'until you raise the limit.'],
])('the email about a used-up limit that resets %j says until when calls are refused', (limit_reset, says) => {
  const facts = { key_id: 1, name: 'build', last4: 'abcd', currency: 'VND' } as const
  const data = { ...facts, limit: '10000', used: '10000', limit_reset, percent: 100 } as const
  const { text } = ALERT_MAILS['key.limit_reached'].en(data, { service: 'SVC', publicUrl: 'https://svc.example' })
  expect(text).toContain(`Calls with it are refused ${says}\n`)
})

test('the pace counts days that have been summed up once, together with today', async () => {
  const [fast, slow] = [await newCustomer(sql), await newCustomer(sql)]
  for (const customer of [fast, slow]) {
    await topUp(sql, customer, 2_000_000)
    await spend(sql, customer, 100_000, { daysAgo: 1 })
  }
  expect((await sumDays(sql, { lagSeconds: 0 })).days).toBeGreaterThan(0)
  await spend(sql, fast, 1_000_000)
  await spend(sql, slow, 700_000)
  // The customer `fast` has 900,000 dong left at 550,000 a day, and `slow` 1,200,000 at 400,000 a day.
  expect(await newSubjects(fast)).toEqual(['Your SVC balance is low: 900.000\u00a0₫ left'])
  expect(await newSubjects(slow)).toEqual([])
  expect(await sql`select from alert where account_id = ${slow.accountId} and kind like 'balance%'`).toHaveLength(0)
})
