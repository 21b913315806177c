/**
 * `usage export` writes the calls of all accounts with their costs, for `catalogue margin` and `price-diff` to read. `usage recount`
 * computes the sums that reports read again.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChargedCalls } from '../../codegen/diff/usage-rows.ts'
import { readConfig } from '../../src/app/config.ts'
import type { Foundation } from '../../src/app/foundation.ts'
import { readCommand, UsageError } from '../../src/cli/arguments.ts'
import { USAGE_ACTIONS } from '../../src/cli/usage.ts'
import { addDays, dayOf } from '../../src/ledger/reports/days.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createCustomer, secrets, settlement, startLedger } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const ledger = await startLedger(database.url)
const folder = mkdtempSync(join(tmpdir(), 'usage-export-'))
afterAll(async () => {
  await ledger.close()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const foundation: Foundation = {
  config: readConfig({ environment: { SANDBOX: 'off' }, upstreamIds: [] }),
  secrets,
  databaseUrl: database.url,
  databaseDirectUrl: null,
  sql: database.sql,
  embedded: false,
  close: async () => {},
}

function run(...argv: string[]) {
  const command = readCommand(argv)!
  return USAGE_ACTIONS[command.spec.name]!(foundation, command)
}

const accounts: number[] = []
beforeAll(async () => {
  for (const upstreamCostMicroVnd of [microVnd(1_234_500_000n), null]) {
    const customer = await createCustomer(database.sql, 10_000_000n)
    accounts.push(customer.accountId)
    const units = { cachedInputTokens: 400, cacheWriteTokens: 30 }
    await ledger.settle(settlement(customer, { ...units, upstreamCostMicroVnd }))
    await ledger.settle(settlement(customer, { costMicroVnd: microVnd(0n), status: 502 }))
  }
})

test('writes every call of every account with its cost, readable by its owner only', async () => {
  const file = join(folder, 'month.csv')
  const today = dayOf(new Date())
  expect(await run('usage', 'export', file)).toEqual({
    data: { file, from: addDays(today, -29), to: today, rows: 4 },
    text: `4 calls of ${addDays(today, -29)} to ${today} in ${file}`,
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const [head = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\r\n')
  const columns = head.split(',')
  const rows = lines.map(line => Object.fromEntries(line.split(',').map((cell, index) => [columns[index], cell])))
  const told = rows.map(row => [row.account_id, row.status, row.cache_write_tokens, row.upstream_cost_vnd])
  expect(told).toEqual([
    [String(accounts[0]), '200', '30', '1234.5'],
    [String(accounts[0]), '502', '', ''],
    [String(accounts[1]), '200', '30', ''],
    [String(accounts[1]), '502', '', ''],
  ])
  const calls = await Array.fromAsync(
    readChargedCalls(
      (async function* () {
        yield readFileSync(file, 'utf8')
      })(),
    ),
  )
  expect(calls).toEqual(
    Array(2).fill({
      model: 'model-a',
      inputTokens: 1000n,
      cachedInputTokens: 400n,
      cacheWriteTokens: 30n,
      outputTokens: 120n,
      images: 0n,
      costMicroVnd: 1_680_000n,
    }),
  )
})

test('takes a range of days, and never overwrites a file or leaves half of one', async () => {
  const file = join(folder, 'days.csv')
  const past = await run('usage', 'export', file, '--from', '2026-01-01', '--to', '2026-01-31')
  expect(past.data).toEqual({ file, from: '2026-01-01', to: '2026-01-31', rows: 0 })
  await expect(run('usage', 'export', file)).rejects.toThrow('already exists')
  const other = join(folder, 'other.csv')
  for (const days of [
    ['--to', 'yesterday'],
    ['--from', '2026-13-01'],
    ['--from', '2026-03-01', '--to', '2026-01-31'],
  ])
    await expect(run('usage', 'export', other, ...days)).rejects.toThrow(UsageError)
  expect(existsSync(other)).toBe(false)
})

test('counts calls, not the line breaks that clients write into models’ names', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const named = { requestedName: 'gpt\r\n"5"\r\n', costMicroVnd: microVnd(0n) }
  await ledger.settle(settlement(customer, named))
  expect(await run('usage', 'export', join(folder, 'named.csv'))).toMatchObject({ data: { rows: 5 } })
})

test('recounts the days that it is given, and refuses others', async () => {
  const today = dayOf(new Date())
  const first = addDays(today, -2)
  const from = ['usage', 'recount', '--from']
  expect(await run(...from, first)).toEqual({
    data: { from: first, to: today, days: 3, hours_kept: [] },
    text: '3 days recounted. Run a full audit to see that the sums agree.',
  })
  expect(await run(...from, first, '--to', first)).toMatchObject({ data: { from: first, to: first, days: 1 } })
  const refused = [
    [['usage', 'recount'], '--from is required'],
    [[...from, '2026-02-30'], 'is not a day'],
    [[...from, today, '--to', 'tomorrow'], 'is not a day'],
    [[...from, today, '--to', first], '--from must not be after --to'],
    [[...from, addDays(today, -400)], 'recount at most 400 days at once'],
  ] as const
  for (const [words, fault] of refused) {
    const running = run(...words)
    await expect(running).rejects.toThrow(fault)
    await expect(running).rejects.toBeInstanceOf(UsageError)
  }
})
