import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKeyFinder } from '../../src/accounts/find-key.ts'
import { limitConcurrency, limitKey } from '../../src/accounts/key-rate.ts'
import { candidateHashes } from '../../src/accounts/key-secret.ts'
import {
  ALLOWED_MODELS_MAX,
  changeKey,
  type KeySettings,
  pauseKey,
  setKeyCap,
} from '../../src/accounts/key-settings.ts'
import { createKey, revokeKey, showKey } from '../../src/accounts/keys.ts'
import { blockAccount, unblockAccount } from '../../src/accounts/operator.ts'
import { COMMAND_LINE, listActions } from '../../src/accounts/operator-log.ts'
import { createOwnKey, listKeyNames, listOwnKeys, readOwnKey } from '../../src/accounts/own-keys.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { addMoney, CALL_MICRO_VND, secrets } from '../ledger/world.ts'
import { UNLIMITED } from '../support/keys.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { newAddress } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

async function newAccount({ verified = true, credit = 50_000_000_000n } = {}): Promise<number> {
  const { accountId } = await createAccount(sql, newAddress())
  if (verified)
    await sql.unsafe('update account set email_verified_at = now() where account_id = $1::text::bigint', [
      String(accountId),
    ])
  if (credit > 0n) await addMoney(sql, accountId, credit)
  return accountId
}

const make = (accountId: number, submission?: string) =>
  createOwnKey(sql, secrets, { accountId, label: 'laptop', ...(submission === undefined ? {} : { submission }) })

/** Adds keys as if the account had created and revoked them now. */
const revokedKeys = (accountId: number, count: number) => sql`
  insert into api_key (account_id, key_hash, pepper_id, last4, revoked_at)
  select ${accountId}, sha256(convert_to(${accountId} || ' ' || n, 'UTF8')), 1, 'gone', now() from generate_series(1, ${count}) n`

describe('making a key', () => {
  test.each([
    ['an account that is not verified', { verified: false }, 'unverified'],
    ['an account that was never topped up', { credit: 0n }, 'never_topped_up'],
  ])('%s gets none', async (_, given, outcome) => {
    expect(await make(await newAccount(given))).toEqual({ outcome })
  })

  test('a topped-up account gets one even after its money is spent', async () => {
    const accountId = await newAccount()
    await addMoney(sql, accountId, -50_000_000_000n)
    expect(await make(accountId)).toMatchObject({ outcome: 'created', key: expect.stringMatching(/^sk-test-/) })
  })

  test('of 40 keys created at once 10 exist', async () => {
    const accountId = await newAccount()
    const answers = await Promise.all(Array.from({ length: 40 }, () => make(accountId)))
    expect(answers.filter(answer => answer.outcome === 'created')).toHaveLength(10)
    expect(answers.filter(answer => answer.outcome === 'limit')).toHaveLength(30)
    expect(await listOwnKeys(sql, accountId)).toHaveLength(10)
  })

  test('of 40 keys created at once after 95 were created and revoked that day, 5 exist; the next day there is room again', async () => {
    const accountId = await newAccount()
    await revokedKeys(accountId, 95)
    const answers = await Promise.all(Array.from({ length: 40 }, () => make(accountId)))
    expect(answers.filter(answer => answer.outcome === 'created')).toHaveLength(5)
    expect(answers.filter(answer => answer.outcome === 'too_many')).toHaveLength(35)
    await sql`update api_key set created_at = created_at - interval '1 day' where account_id = ${accountId}`
    expect(await make(accountId)).toMatchObject({ outcome: 'created' })
  })

  test('of very many keys the active and the newest are listed, and each can be read', async () => {
    const accountId = await newAccount()
    const made = await make(accountId)
    const keyId = made.outcome === 'created' ? made.keyId : 0
    await revokedKeys(accountId, 300)
    for (const keys of [await listOwnKeys(sql, accountId), await listKeyNames(sql, accountId)]) {
      const [first, newest, ...others] = keys.map(key => key.keyId)
      expect([first, newest, others.length, others.at(-1)]).toEqual([keyId, keyId + 300, 198, keyId + 102])
    }
    expect(await readOwnKey(sql, { accountId, keyId: keyId + 1 })).toMatchObject({ keyId: keyId + 1, state: 'revoked' })
    expect(await readOwnKey(sql, { accountId: await newAccount(), keyId })).toBeNull()
  })

  test('a form sent many times makes one key and shows it each time', async () => {
    const accountId = await newAccount()
    const submission = uuidv7()
    const answers = await Promise.all(Array.from({ length: 5 }, () => make(accountId, submission)))
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
    expect(await listOwnKeys(sql, accountId)).toHaveLength(1)
    const stranger = await newAccount()
    expect(await make(stranger, submission)).not.toEqual(answers[0])
    await expect(make(accountId, `'; --`)).rejects.toThrow(RangeError)
  })

  test('a form sent again after its key was revoked makes no second key', async () => {
    const accountId = await newAccount()
    const submission = uuidv7()
    const made = await make(accountId, submission)
    if (made.outcome !== 'created') throw new Error('no key was created')
    await revokeKey(sql, { accountId, keyId: made.keyId })
    expect(await make(accountId, submission)).toEqual({ outcome: 'gone' })
    expect(await listOwnKeys(sql, accountId)).toHaveLength(1)
  })

  test('a form sent again much later no longer shows its key, which takes the password then', async () => {
    const accountId = await newAccount()
    const submission = uuidv7()
    const made = await make(accountId, submission)
    expect(await make(accountId, submission)).toEqual(made)
    await sql`update api_key set created_at = created_at - interval '6 minutes' where submission = ${submission}`
    expect(await make(accountId, submission)).toEqual({ outcome: 'gone' })
    expect(await listOwnKeys(sql, accountId)).toHaveLength(1)
  })

  test('a label loses what cannot be shown and what is too long', async () => {
    const accountId = await newAccount()
    const label = ` my\0 key\n${'x'.repeat(200)}`
    const made = await createOwnKey(sql, secrets, { accountId, label })
    expect(made.outcome).toBe('created')
    expect((await listOwnKeys(sql, accountId))[0]?.label).toBe(`my  key ${'x'.repeat(92)}`)
  })
})

describe('the list', () => {
  let accountId: number
  beforeAll(async () => {
    accountId = await newAccount()
    const keys = [
      await createKey(sql, secrets, { accountId, label: 'a' }),
      await createKey(sql, secrets, { accountId, label: 'b' }),
    ]
    const spend = (keyId: number, daysAgo: number, entry: string) =>
      sql.unsafe(
        `insert into usage_daily values ($1::text::bigint, (now() at time zone 'Asia/Ho_Chi_Minh')::date - $2::text::integer,
           $3::text::bigint, $4, 1, 0, 1000, 120, 0, $5::text::bigint, $5::text::bigint)`,
        [String(accountId), String(daysAgo), String(keyId), entry, String(CALL_MICRO_VND)],
      )
    await spend(keys[0]!.keyId, 0, 'm1')
    await spend(keys[0]!.keyId, 0, 'm2')
    await spend(keys[0]!.keyId, 29, 'm1')
    await spend(keys[0]!.keyId, 30, 'm1')
    await revokeKey(sql, { accountId, keyId: keys[1]!.keyId })
  })

  test('says what each key has cost today, in 30 days and in total, and when it was last used', async () => {
    const keys = await listOwnKeys(sql, accountId)
    const today = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10)
    expect(keys).toMatchObject([
      {
        label: 'a',
        showable: true,
        costTodayMicroVnd: 2n * CALL_MICRO_VND,
        cost30DaysMicroVnd: 3n * CALL_MICRO_VND,
        costTotalMicroVnd: 4n * CALL_MICRO_VND,
        lastUsedDay: today,
        limitMicroVnd: null,
        state: 'active',
        revokedAt: null,
      },
      { label: 'b', showable: false, costTotalMicroVnd: 0n, lastUsedDay: null, revokedAt: expect.any(Date) },
    ])
    expect(keys[0]!.spentMicroVnd).toBeGreaterThanOrEqual(2n * CALL_MICRO_VND)
  })

  test('a key created before encrypted copies were kept says that it cannot be shown', async () => {
    const { keyId } = await createKey(sql, secrets, { accountId, label: 'old' })
    await sql.unsafe(
      'update api_key set encryption_id = null, encryption_iv = null, ciphertext = null where key_id = $1::text::bigint',
      [String(keyId)],
    )
    expect((await listOwnKeys(sql, accountId))[0]).toMatchObject({ label: 'old', showable: false, revokedAt: null })
    expect(await showKey(sql, secrets, { accountId, keyId })).toEqual({ outcome: 'gone' })
  })
})

describe('changing a key', () => {
  const SETTINGS: KeySettings = {
    label: 'renamed',
    limitVnd: 20_000,
    limitReset: 'weekly',
    expiresAt: new Date('2030-01-01T00:00:00+07:00'),
    allowedModels: ['claude/*', 'gpt-5.5'],
    callsPerMinute: 60,
    callsInFlight: 4,
  }

  test('its owner, and nobody else, can change all its settings at once, and back', async () => {
    const [mine, theirs] = [await newAccount(), await newAccount()]
    const { keyId } = await createKey(sql, secrets, { accountId: theirs, label: 'theirs' })
    const key = { accountId: theirs, keyId }
    const before = (await listOwnKeys(sql, theirs))[0]
    expect(before).toMatchObject({ limitMicroVnd: null, limitReset: 'monthly', expiresAt: null, allowedModels: null })
    expect(await changeKey(sql, { accountId: mine, keyId }, SETTINGS)).toBe(false)
    expect(await pauseKey(sql, { accountId: mine, keyId }, true)).toBe(false)
    expect(await setKeyCap(sql, { accountId: mine, keyId, capVnd: 1 })).toBe(false)
    expect((await listOwnKeys(sql, theirs))[0]).toEqual(before)
    expect(await changeKey(sql, key, SETTINGS)).toBe(true)
    expect((await listOwnKeys(sql, theirs))[0]).toMatchObject({
      state: 'active',
      label: 'renamed',
      limitMicroVnd: 20_000_000_000n,
      limitReset: 'weekly',
      expiresAt: SETTINGS.expiresAt,
      allowedModels: ['claude/*', 'gpt-5.5'],
      rateLimitPerMinute: 60,
      concurrencyMax: 4,
    })
    expect(await changeKey(sql, key, { ...UNLIMITED, label: 'theirs' })).toBe(true)
    expect((await listOwnKeys(sql, theirs))[0]).toEqual(before)
    await revokeKey(sql, key)
    expect([await changeKey(sql, key, SETTINGS), await pauseKey(sql, key, true)]).toEqual([false, false])
  })

  test('paused, expired and revoked are different states, and revoked takes precedence', async () => {
    const accountId = await newAccount()
    const { keyId } = await createKey(sql, secrets, { accountId })
    const key = { accountId, keyId }
    const state = async () => (await listOwnKeys(sql, accountId))[0]?.state
    const expireAt = (at: Date | null) => changeKey(sql, key, { ...SETTINGS, expiresAt: at })
    await expireAt(new Date(Date.now() - 1_000))
    expect(await state()).toBe('expired')
    await pauseKey(sql, key, true)
    expect(await state()).toBe('disabled')
    await expireAt(null)
    await pauseKey(sql, key, false)
    expect(await state()).toBe('active')
    await pauseKey(sql, key, true)
    await revokeKey(sql, key)
    expect(await state()).toBe('revoked')
  })

  test('its owner sets its calls per minute and in flight, except while an operator’s limits apply', async () => {
    const accountId = await newAccount()
    const key = { accountId, keyId: (await createKey(sql, secrets, { accountId, label: 'limited' })).keyId }
    const standing = async () => {
      const [found] = await listOwnKeys(sql, accountId)
      return [found?.rateLimitPerMinute, found?.rateHeld, found?.concurrencyMax, found?.concurrencyHeld]
    }
    const change = (callsPerMinute: number | null, callsInFlight: number | null) =>
      changeKey(sql, key, { ...SETTINGS, callsPerMinute, callsInFlight })
    expect(await change(60, 4)).toBe(true)
    expect(await standing()).toEqual([60, false, 4, false])
    expect(await limitKey(sql, { ...key, by: COMMAND_LINE }, 5)).toBe(true)
    expect(await change(1_000, 8)).toBe(true)
    expect(await standing()).toEqual([5, true, 8, false])
    expect(await limitConcurrency(sql, { ...key, by: COMMAND_LINE }, 2)).toBe(true)
    expect(await change(null, null)).toBe(true)
    expect(await standing()).toEqual([5, true, 2, true])
    expect(await listActions(sql, { accountId })).toMatchObject([
      { action: 'key.concurrency', subject: String(key.keyId), reason: '2' },
      { action: 'key.limit', subject: String(key.keyId), reason: '5' },
    ])
    expect(await limitKey(sql, { ...key, by: COMMAND_LINE }, null)).toBe(true)
    expect(await limitConcurrency(sql, { ...key, by: COMMAND_LINE }, null)).toBe(true)
    expect(await standing()).toEqual([null, false, null, false])
    expect(await change(1_000, 9)).toBe(true)
    expect(await standing()).toEqual([1_000, false, 9, false])
    await revokeKey(sql, key)
    expect(await limitKey(sql, { ...key, by: COMMAND_LINE }, 1)).toBe(false)
  })

  test.each([
    { callsPerMinute: 0 },
    { callsPerMinute: 1.5 },
    { callsPerMinute: 1_000_001 },
    { callsInFlight: 0 },
    { callsInFlight: 1_000_001 },
    { allowedModels: [] },
    { allowedModels: Array<string>(ALLOWED_MODELS_MAX + 1).fill('m') },
    { limitVnd: 0 },
  ])('%j is a mistake of the caller', async change => {
    await expect(changeKey(sql, { accountId: 1, keyId: 1 }, { ...SETTINGS, ...change })).rejects.toThrow(RangeError)
  })

  test.each([0, -1, 1.5, Number.NaN, 1_000_000_001])('a spend limit of %s is a programming error', async capVnd => {
    await expect(setKeyCap(sql, { accountId: 1, keyId: 1, capVnd })).rejects.toThrow(RangeError)
  })
})

test('a blocked account keeps its keys, but none works until it is unblocked, and it gets no new one', async () => {
  const finder = createKeyFinder({ url: database.url })
  try {
    const accountId = await newAccount()
    const made = await make(accountId)
    const key = made.outcome === 'created' ? made.key : ''
    const state = async () => (await finder.find(candidateHashes(secrets, key)))?.state
    const request = { accountId, by: COMMAND_LINE, reason: 'test' }
    expect(await blockAccount(sql, request)).toBe(true)
    expect(await blockAccount(sql, request)).toBe(false)
    expect(await state()).toBe('blocked')
    expect(await make(accountId)).toEqual({ outcome: 'blocked' })
    expect(await unblockAccount(sql, request)).toBe(true)
    expect(await state()).toBe('active')
    expect((await make(accountId)).outcome).toBe('created')
  } finally {
    await finder.close()
  }
})
