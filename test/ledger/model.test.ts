import { afterAll, expect, test } from 'vitest'
import { revokeKey } from '../../src/accounts/keys.ts'
import { placeHolds } from '../../src/ledger/hold.ts'
import { lookUpCalls, settleCalls } from '../../src/ledger/settle.ts'
import { openStatementPool } from '../../src/lib/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { Model, type ModelHold, type ModelSettlement } from './model.ts'
import { addMoney, type Customer, createCustomer, expectCleanAudit, settlement, walletOf } from './world.ts'

const database = await createTestDatabase()
const pool = openStatementPool({ url: database.url, name: 'model', connectionsMax: 1, deadlineMs: 30_000 })
afterAll(async () => {
  await pool.close()
  await database.drop()
})

const ROUNDS = 250

/** Mulberry32: small, seeded, and the same everywhere. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

test.each([1, 2, 3, Date.now() % 1_000_000_007])('answers as the model does, seed %i', async seed => {
  const random = generator(seed)
  const model = new Model()
  const customers: Customer[] = []
  for (let index = 0; index < 5; index++) {
    const customer = await createCustomer(database.sql, 0n)
    customers.push(customer)
    model.wallets.set(customer.accountId, { balance: 0n, held: 0n, seq: 0 })
  }
  const finished: ModelSettlement[] = []
  let round = 0
  for (; round < ROUNDS; round++) {
    const action = random(20)
    if (action < 9) await holdRound()
    else if (action < 17) await settleRound()
    else if (action < 19) await creditRound()
    else if (random(12) === 0) await revokeRound()
  }
  for (const customer of customers) {
    const { balance, held } = model.wallets.get(customer.accountId)!
    expect(await walletOf(database.sql, customer)).toEqual({ balance, held })
  }
  await expectCleanAudit(database.sql)

  async function holdRound(): Promise<void> {
    const open = [...model.holds]
    const requests: ModelHold[] = Array.from({ length: 1 + random(12) }, () => {
      const customer = customers[random(customers.length)]!
      const fresh = {
        account: customer.accountId,
        key: customer.keyId,
        call: uuidv7(),
        want: BigInt(1 + random(5_000_000)),
      }
      const again = random(8) === 0 ? open.splice(random(open.length), 1)[0] : undefined
      if (again === undefined) return fresh
      const owner = customers.find(({ accountId }) => accountId === again[1].account)!
      return { ...fresh, account: owner.accountId, key: owner.keyId, call: again[0] }
    })
    const rows = requests.map(({ account, call, want }) => ({
      keyHashHex: customers.find(({ accountId }) => accountId === account)!.keyHash.toString('hex'),
      callId: call,
      wantMicroVnd: microVnd(want),
      entryId: 'm',
      requestedName: null,
      endpoint: 1 as const,
    }))
    const answers = await placeHolds(pool, rows, '1')
    const seen = answers.map(answer =>
      answer.active ? { held: answer.heldMicroVnd, balance: answer.balanceMicroVnd } : 'refused',
    )
    expect(seen, `round ${round}`).toEqual(model.place(requests))
  }

  async function settleRound(): Promise<void> {
    const open = [...model.holds]
    const calls: ModelSettlement[] = Array.from({ length: 1 + random(10) }, () => {
      const held = random(6) === 0 ? undefined : open.splice(random(open.length), 1)[0]
      const account = held?.[1].account ?? customers[random(customers.length)]!.accountId
      return { account, call: held?.[0] ?? uuidv7(), cost: random(5) === 0 ? 0n : BigInt(random(5_000)) * 1_500n }
    })
    if (finished.length > 0 && random(10) === 0) calls.push(finished[random(finished.length)]!)
    const batch = calls.map(({ account, call, cost }) => {
      const owner = customers.find(({ accountId }) => accountId === account)!
      return settlement(owner, {
        callId: call,
        costMicroVnd: microVnd(cost),
        inputTokens: Number(cost / 1_500n),
        outputTokens: 0,
      })
    })
    const expected = model.settle(calls)
    if (expected === null) {
      await expect(settleCalls(pool, batch), `round ${round}`).rejects.toMatchObject({ code: '23505' })
      const recorded = await lookUpCalls(pool, batch)
      for (const { call } of calls) expect(recorded.get(call)).toEqual(recordOf(call))
      return
    }
    const settled = await settleCalls(pool, batch)
    expect(settled.calls, `round ${round}`).toEqual(calls.map(({ call }) => recordOf(call)))
    for (const [account, state] of settled.wallets) {
      const { balance, held } = model.wallets.get(account)!
      expect(state).toEqual({ balanceMicroVnd: balance, availableMicroVnd: balance - held })
    }
    finished.push(...calls)
  }

  function recordOf(call: string): { chargedMicroVnd: bigint; balanceAfterMicroVnd: bigint } | undefined {
    const row = model.usage.get(call)
    return row === undefined ? undefined : { chargedMicroVnd: row.charged, balanceAfterMicroVnd: row.after }
  }

  async function creditRound(): Promise<void> {
    const { accountId } = customers[random(customers.length)]!
    const amount = BigInt(1 + random(20_000_000))
    await addMoney(database.sql, accountId, amount)
    model.credit(accountId, amount)
  }

  async function revokeRound(): Promise<void> {
    const customer = customers[random(customers.length)]!
    await revokeKey(database.sql, customer)
    model.revoked.add(customer.keyId)
  }
})
