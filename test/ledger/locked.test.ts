import { afterAll, expect, test, vi } from 'vitest'
import { hashKey } from '../../src/accounts/key-secret.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { LockedWallets } from '../../src/ledger/locked.ts'
import { NOTHING_AGAIN } from '../../src/lib/batcher.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  expectCleanAudit,
  holdRequest,
  patient,
  secrets,
  settlement,
  startLedger,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

test('a wallet that another session keeps locked holds up only its own calls', async () => {
  // One queue for all accounts, and statements that give up long before the calls do.
  const limits = { concurrency: 1, statementTimeoutMs: 1_000, holdRetryMs: 60_000, settleWaitMs: 60_000 }
  const ledger = await startLedger(database.url, { limits })
  const [stuck, other] = [
    await createCustomer(sql, 100n * CALL_MICRO_VND),
    await createCustomer(sql, 100n * CALL_MICRO_VND),
  ]
  const held = async (customer: Customer): Promise<string> => {
    const request = holdRequest(customer)
    expect(await ledger.admit(request, patient)).toMatchObject({ outcome: 'admitted' })
    return request.callId
  }
  const more = ({ accountId }: Customer, callId: string) =>
    ledger.extend({ accountId, callId, wantMicroVnd: microVnd(2n * CALL_MICRO_VND) }, patient)
  const settle = (customer: Customer, callId: string) => ledger.settle(settlement(customer, { callId }))
  try {
    const [first, second] = [await held(stuck), await held(stuck)]
    // The gateway does not know the account of this key yet.
    const { keyId, key } = await createKey(sql, secrets, { accountId: stuck.accountId })
    const fresh = { ...stuck, keyId, key, keyHash: hashKey(secrets, key).hash }
    let answered = 0
    const { waiting } = await sql.begin(async transaction => {
      await transaction.unsafe(`select from wallet where account_id = ${stuck.accountId} for update`)
      const waiting = [held(stuck), held(fresh), more(stuck, first), settle(stuck, second)].map(async answer => {
        await answer
        answered++
      })
      for (let call = 0; call < 3; call++) {
        const callId = await held(other)
        expect(await more(other, callId)).toEqual({ heldMicroVnd: 2n * CALL_MICRO_VND })
        expect(await settle(other, callId)).toMatchObject({ outcome: 'settled' })
      }
      expect(answered).toBe(0)
      return { waiting }
    })
    await Promise.all(waiting)
    expect(await walletOf(sql, stuck)).toEqual({ balance: 99n * CALL_MICRO_VND, held: 4n * CALL_MICRO_VND })
    expect(await walletOf(sql, other)).toEqual({ balance: 97n * CALL_MICRO_VND, held: 0n })
    await expectCleanAudit(sql)
  } finally {
    await ledger.close()
  }
})

test.each([
  { name: 'a busy wallet, locked at every other check', isLocked: (check: number) => check % 2 === 0, checked: 600 },
  { name: 'a stuck wallet, locked for good', isLocked: () => true, checked: 2_000 },
])(
  'batches are checked for a minute after a timeout, and for longer only because of a stuck wallet: $name',
  async given => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      let checks = 0
      const wallets = new LockedWallets<number, number>({
        ownerOf: account => account,
        find: async () => new Set(given.isLocked(checks++) ? [1] : []),
      })
      wallets.failed(new Error('unrelated'))
      await wallets.send([1], async () => NOTHING_AGAIN)
      expect(checks).toBe(0)
      wallets.failed(Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }))
      for (let tenths = 0; tenths < 2_000; tenths++) {
        await wallets.send([1], async () => NOTHING_AGAIN)
        vi.advanceTimersByTime(100)
      }
      expect(checks).toBe(given.checked)
    } finally {
      vi.useRealTimers()
    }
  },
)
