import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { listActions } from '../../src/accounts/operator-log.ts'
import { readConfig } from '../../src/app/config.ts'
import type { Foundation } from '../../src/app/foundation.ts'
import { ACTIONS } from '../../src/cli/actions.ts'
import { readCommand, UsageError } from '../../src/cli/arguments.ts'
import type { Answer } from '../../src/cli/commands.ts'
import { readOutbox } from '../../src/lib/outbox.ts'
import { secrets } from '../ledger/world.ts'
import { balanceOf, newOrder, testPayments } from '../payments/world.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'))
afterAll(async () => {
  await database.drop()
  rmSync(dataDir, { recursive: true })
})

const foundation: Foundation = {
  config: readConfig({ environment: { SANDBOX: 'off', DATA_DIR: dataDir }, upstreamIds: [] }),
  secrets,
  databaseUrl: database.url,
  databaseDirectUrl: null,
  sql,
  embedded: false,
  close: async () => {},
}

async function run(...argv: string[]): Promise<Answer> {
  const command = readCommand(argv)!
  const action = ACTIONS[command.spec.name]!
  return action(foundation, command)
}

const { account_id: accountId } = (await run('account', 'create', 'ann@example.com')).data as { account_id: number }

test('the operator’s role is granted and revoked, and the log says who did it', async () => {
  expect((await run('account', 'operator', 'ann@example.com', 'on')).data).toMatchObject({
    operator: true,
    changed: true,
  })
  expect((await run('account', 'operator', 'ann@example.com', 'on')).data).toMatchObject({ changed: false })
  expect((await run('account', 'operator', 'ann@example.com', 'off')).data).toMatchObject({
    operator: false,
    changed: true,
  })
  const log = await sql.unsafe('select action, operator_name from operator_action order by action_id')
  expect(log).toEqual([
    { action: 'operator.on', operator_name: 'command line' },
    { action: 'operator.off', operator_name: 'command line' },
  ])
  await expect(run('account', 'operator', 'ann@example.com', 'maybe')).rejects.toThrow(UsageError)
  await expect(run('account', 'operator', 'nobody@example.com', 'on')).rejects.toThrow(
    'no account for nobody@example.com',
  )
})

test('whose second factor is reset on the command line is told by email, and the operator if that fails', async () => {
  const reset = (email: string) => run('account', 'reset-second-factor', email, '--reason', 'lost the phone')
  const withFactor = async (email: string) => {
    const { account_id } = (await run('account', 'create', email)).data as { account_id: number }
    await sql`insert into totp (account_id, encryption_id, encryption_iv, ciphertext, last_step)
      values (${account_id}, 1, decode(repeat('00', 12), 'hex'), decode('00', 'hex'), 0)`
    return account_id
  }
  const bao = await withFactor('bao@example.com')
  const done = await reset('bao@example.com')
  expect(done.data).toEqual({ account_id: bao, changed: true, told: true })
  const [mail] = await readOutbox(join(dataDir, 'outbox'))
  expect(mail).toMatchObject({ to: 'bao@example.com', subject: 'Đã gỡ xác thực hai lớp tại SVC' })
  const [logged] = await sql`select subject, failed from mail_sent where email = 'bao@example.com'`
  expect(logged).toEqual({ subject: 'Đã gỡ xác thực hai lớp tại SVC', failed: false })
  expect((await reset('bao@example.com')).data).toEqual({ account_id: bao, changed: false, told: false })
  await withFactor('chi@example.com')
  const smtp = { ...foundation.config, mail: { ...foundation.config.mail, smtpUrl: 'smtp://127.0.0.1:1' } }
  const command = readCommand(['account', 'reset-second-factor', 'chi@example.com', '--reason', 'lost the phone'])!
  const untold = await ACTIONS[command.spec.name]!({ ...foundation, config: smtp }, command)
  expect(untold).toMatchObject({ data: { changed: true, told: false } })
  expect(untold.text).toContain('no email could be sent')
})

test('a transfer entered without a code waits, is listed, and is assigned once', async () => {
  const where = ['--reason', 'statement of today', '--account', '1012345678']
  const entered = await run('payment', 'enter', 'FT 77', '120000', '--memo', 'tien', ...where)
  expect(entered).toMatchObject({
    data: { outcome: 'unmatched' },
    text: expect.stringMatching(/payment assign \d+ EMAIL/),
  })
  const { number } = entered.data as { number: number }
  expect((await run('payment', 'unmatched')).data).toMatchObject({
    transactions: 1,
    amount_vnd: 120_000,
    list: [{ number, bank_reference: 'FT77', amount_vnd: 120_000, memo: 'tien', reason: 'no_code' }],
  })
  const assigned = await run('payment', 'assign', String(number), 'ann@example.com', '--reason', 'asked by phone')
  expect(assigned.data).toEqual({ number, outcome: 'credited' })
  const again = await run('payment', 'assign', String(number), 'ann@example.com', '--reason', 'asked by phone')
  expect(again.data).toEqual({ number, outcome: 'already' })
  expect(await balanceOf(sql, accountId)).toBe(120_000)
  expect((await run('payment', 'unmatched')).text).toBe('Transfers waiting: 0, 0 VND in total.')
  const conflict = await run('payment', 'enter', 'FT77', '130000', '--memo', 'tien', ...where)
  expect(conflict).toMatchObject({ failed: true, data: { outcome: 'conflict' } })
})

test('a transfer entered with an order’s code pays the order; transfers can also be assigned to orders', async () => {
  const order = await newOrder(testPayments(sql), 50_000, accountId)
  const where = ['--reason', 'statement', '--account', '1012345678']
  const entered = await run('payment', 'enter', 'FT78', '50000', '--memo', order.orderCode, ...where)
  expect(entered.data).toMatchObject({ outcome: 'credited' })
  const { number } = (await run('payment', 'enter', 'FT79', '60000', ...where)).data as { number: number }
  const assigned = await run('payment', 'assign', String(number), order.orderCode, '--reason', 'second part')
  expect(assigned.data).toEqual({ number, outcome: 'credited' })
  expect(await balanceOf(sql, accountId)).toBe(230_000)
  const mistyped = await run('payment', 'enter', 'FT87', '50000', '--memo', order.orderCode, ...where)
  expect(mistyped.text).toContain(
    'Not credited: a transfer of this amount was credited to its order, and may be the same',
  )
  expect(await balanceOf(sql, accountId)).toBe(230_000)
  expect((await run('audit')).data).toMatchObject({
    clean: true,
    payments: { unbooked: 0, unfounded: 0, orders: 0, undecided: 0, credit_days: 0 },
  })
})

test.each([
  [['payment', 'enter', 'FT80', '50000', '--reason', 'x'], 'set BANK_ACCOUNT'],
  [['payment', 'enter', 'FT80', '50.000', '--reason', 'x', '--account', '1'], 'digits only'],
  [['payment', 'enter', 'FT80', '0', '--reason', 'x', '--account', '1'], 'above 0'],
  [['payment', 'enter', 'FT80', '50000'], '--reason is required'],
  [['payment', 'assign', 'x', 'ann@example.com', '--reason', 'x'], 'payment unmatched'],
  [['payment', 'assign', '999', 'ann@example.com', '--reason', 'x'], 'There is no transfer 999'],
  [['payment', 'assign', '1', 'ann@example.com'], '--reason is required'],
])('%j says what to do', async (argv, advice) => {
  await expect(run(...argv)).rejects.toThrow(UsageError)
  await expect(run(...argv)).rejects.toThrow(advice)
})

test('what the command line does to money, keys and maintenance is in the operators’ log', async () => {
  const made = (await run('account', 'create', 'logged@example.com', '--credit', '1000')).data as { account_id: number }
  const { key_id } = (await run('key', 'create', 'logged@example.com')).data as { key_id: number }
  const credit = ['credit', 'logged@example.com', '500', '--reason', 'goodwill', '--ref', 'once']
  await run(...credit)
  await run(...credit)
  await run('key', 'revoke', 'logged@example.com', String(key_id))
  const ofAccount = await listActions(sql, { accountId: made.account_id })
  expect(ofAccount.map(({ action, subject, reason, by }) => [action, subject, reason, by.name])).toEqual([
    ['key.revoke', String(key_id), '', 'command line'],
    ['balance.adjust', '500 VND', 'goodwill', 'command line'],
    ['balance.adjust', '1000 VND', '', 'command line'],
  ])
  await run('maintenance', 'on')
  await run('maintenance', 'off')
  expect((await listActions(sql, { limit: 2 })).map(({ action, by }) => [action, by.name])).toEqual([
    ['maintenance.off', 'command line'],
    ['maintenance.on', 'command line'],
  ])
})

test('a key’s settings are changed one by one, it is paused and rotated, and the list shows its state', async () => {
  const { key_id: keyId, api_key: first } = (await run('key', 'create', 'ann@example.com', '--label', 'ci')).data as {
    key_id: number
    api_key: string
  }
  const key = ['ann@example.com', String(keyId)]
  const listed = async () => {
    const keys = (await run('key', 'list', 'ann@example.com')).data as { key_id: number }[]
    return keys.find(each => each.key_id === keyId)
  }
  expect(await listed()).toMatchObject({
    label: 'ci',
    state: 'active',
    limit_vnd: null,
    limit_reset: null,
    expires_at: null,
  })
  const set = await run('key', 'set', ...key, '--limit', '500000', '--per', 'week', '--models', 'Claude/*, gpt-5.5')
  expect(set.text).toBe(`Key ${keyId} has a weekly limit of 500000 VND, calls claude/*, gpt-5.5 and does not expire.`)
  const expiring = await run('key', 'set', ...key, '--expires', '2099-12-31')
  expect(expiring.text).toMatch(/ and works until the end of 2099-12-31 in Vietnam\.$/)
  expect((await run('key', 'list', 'ann@example.com')).text).toMatch(
    /active {2}ci {2}\(weekly limit of 500000 VND, 0 spent; only claude\/\*, gpt-5\.5; until 2099-12-31\)$/m,
  )
  expect(await listed()).toMatchObject({
    label: 'ci',
    limit_vnd: '500000',
    limit_reset: 'weekly',
    spent_vnd: '0',
    expires_at: '2099-12-31T17:00:00.000Z',
    allowed_models: ['claude/*', 'gpt-5.5'],
  })
  expect((await run('key', 'disable', ...key)).data).toEqual({ key_id: keyId, state: 'disabled' })
  expect(await listed()).toMatchObject({ state: 'disabled' })
  expect((await run('key', 'enable', ...key)).data).toEqual({ key_id: keyId, state: 'active' })
  const rotated = (await run('key', 'rotate', ...key, '--overlap', '24')).data as { api_key: string; old_until: string }
  expect([rotated.api_key.startsWith('sk-'), rotated.api_key === first]).toEqual([true, false])
  expect(Date.parse(rotated.old_until)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
  for (const wrong of [
    ['key', 'set', ...key, '--limit', '0'],
    ['key', 'set', ...key, '--per', 'year'],
    ['key', 'set', ...key, '--expires', '2020-01-01'],
    ['key', 'set', ...key, '--models', 'no-such-model'],
    ['key', 'rotate', ...key, '--overlap', '25'],
    ['key', 'rotate', 'ann@example.com', '999999'],
    ['key', 'disable', 'ann@example.com', '999999'],
  ]) {
    await expect(run(...wrong)).rejects.toThrow(UsageError)
  }
  expect(await listed()).toMatchObject({ limit_vnd: '500000', last4: rotated.api_key.slice(-4) })
  await run('key', 'set', ...key, '--limit', 'none', '--models', 'all', '--expires', 'never')
  expect(await listed()).toMatchObject({ limit_vnd: null, allowed_models: null, expires_at: null })
})
