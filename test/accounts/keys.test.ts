import { afterAll, describe, expect, test } from 'vitest'
import { createAccount, findAccount, findAccountByEmail } from '../../src/accounts/accounts.ts'
import { createKeyFinder } from '../../src/accounts/find-key.ts'
import { candidateHashes, hashKey } from '../../src/accounts/key-secret.ts'
import { createKey, KeyLimitError, listKeys, revokeKey, showKey } from '../../src/accounts/keys.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
const finder = createKeyFinder({ url: database.url })
afterAll(async () => {
  await finder.close()
  await database.drop()
})

const secrets = {
  service: 'test',
  peppers: parseSecretSet('PEPPERS', generateSecretSet()),
  encryption: parseSecretSet('ENCRYPTION', generateSecretSet()),
}

let accounts = 0
const newAccount = async (): Promise<number> => (await createAccount(sql, `a${++accounts}@example.com`)).accountId

describe('accounts', () => {
  test('an email address has one account, in whatever case it is written', async () => {
    const { accountId } = await createAccount(sql, ' Ann@Example.com ')
    await expect(createAccount(sql, 'ann@example.COM')).rejects.toThrow('ann@example.COM already has an account')
    const found = { accountId, email: 'Ann@Example.com', balanceMicroVnd: 0n, heldMicroVnd: 0n }
    expect(await findAccountByEmail(sql, 'ANN@example.com')).toEqual(found)
    expect(await findAccount(sql, accountId)).toEqual(found)
    expect(await findAccount(sql, 1_000_000)).toBeNull()
  })

  test.each(['', 'ann', 'ann@', '@example.com', 'a b@example.com', `${'a'.repeat(250)}@example.com`, 'a@b\0.com'])(
    'refuses %j as an address',
    async email => {
      await expect(createAccount(sql, email)).rejects.toThrow('is not an email address')
    },
  )
})

describe('keys', () => {
  test('a key is shown again to its owner until it is revoked, and then never', async () => {
    const accountId = await newAccount()
    const { keyId, key } = await createKey(sql, secrets, { accountId, label: 'laptop' })
    expect(key).toMatch(/^sk-test-[A-Za-z0-9_-]{43}$/)
    expect(await showKey(sql, secrets, { accountId, keyId })).toEqual({ outcome: 'revealed', key })
    expect(await revokeKey(sql, { accountId, keyId })).toBe(true)
    expect(await revokeKey(sql, { accountId, keyId })).toBe(false)
    expect(await showKey(sql, secrets, { accountId, keyId })).toEqual({ outcome: 'gone' })
    const stored = await sql.unsafe(
      'select encryption_id, encryption_iv, ciphertext from api_key where key_id = $1::text::bigint',
      [String(keyId)],
    )
    expect(stored).toEqual([{ encryption_id: null, encryption_iv: null, ciphertext: null }])
    const listed = await listKeys(sql, accountId)
    expect(listed).toMatchObject([
      { keyId, label: 'laptop', last4: key.slice(-4), showable: false, revokedAt: expect.any(Date) },
    ])
  })

  test('the secret itself is nowhere in the database', async () => {
    const accountId = await newAccount()
    const { key } = await createKey(sql, secrets, { accountId })
    const rows = await sql.unsafe(
      `select count(*)::integer as found from api_key k where k::text like '%' || $1 || '%'`,
      [key.slice(8)],
    )
    expect(rows[0]?.found).toBe(0)
  })

  test('of 200 keys created at once exactly 10 exist, and revoking one makes room', async () => {
    const accountId = await newAccount()
    const made = await Promise.allSettled(Array.from({ length: 200 }, () => createKey(sql, secrets, { accountId })))
    const refused = made.filter(result => result.status === 'rejected')
    expect(refused).toHaveLength(190)
    expect(refused.every(result => result.reason instanceof KeyLimitError)).toBe(true)
    const keys = await listKeys(sql, accountId)
    expect(keys).toHaveLength(10)
    await revokeKey(sql, keys[0]!)
    await createKey(sql, secrets, { accountId })
    await expect(createKey(sql, secrets, { accountId })).rejects.toThrow('10 active keys; revoke one first')
  })

  test('one account cannot see or revoke a key of another', async () => {
    const [mine, theirs] = [await newAccount(), await newAccount()]
    const { keyId } = await createKey(sql, secrets, { accountId: theirs })
    expect(await showKey(sql, secrets, { accountId: mine, keyId })).toBeNull()
    expect(await revokeKey(sql, { accountId: mine, keyId })).toBe(false)
  })

  test('an account that does not exist gets no key', async () => {
    await expect(createKey(sql, secrets, { accountId: 1_000_000 })).rejects.toThrow('there is no account 1000000')
  })

  test.each([
    ['moved to another key of the account', 'a.account_id = b.account_id and a.key_id < b.key_id'],
    ['moved to another account', 'a.account_id < b.account_id'],
  ])('a stored copy %s is refused', async (_, relation) => {
    const accountId = await newAccount()
    await createKey(sql, secrets, { accountId })
    await createKey(sql, secrets, { accountId })
    const moved = await sql.unsafe(
      `update api_key b set encryption_iv = a.encryption_iv, ciphertext = a.ciphertext from api_key a
        where a.ciphertext is not null and b.ciphertext is not null and ${relation} and b.account_id = $1::text::bigint
          and b.key_id = (select max(key_id) from api_key) returning b.key_id`,
      [String(accountId)],
    )
    const damaged = showKey(sql, secrets, { accountId, keyId: Number(moved[0]?.key_id) })
    await expect(damaged).rejects.toThrow('damaged or belongs to another row')
  })

  test.each([
    ['with a flipped bit', 'set_bit(ciphertext, 3, 1 - get_bit(ciphertext, 3))'],
    [
      'with a flipped bit in its tag',
      'set_byte(ciphertext, length(ciphertext) - 1, get_byte(ciphertext, length(ciphertext) - 1) # 1)',
    ],
    ['with a shortened tag', 'substr(ciphertext, 1, length(ciphertext) - 4)'],
    ['cut to four bytes', 'substr(ciphertext, 1, 4)'],
  ])('a stored copy %s is refused', async (_, change) => {
    const accountId = await newAccount()
    const { keyId } = await createKey(sql, secrets, { accountId })
    await sql.unsafe(`update api_key set ciphertext = ${change} where key_id = $1::text::bigint`, [String(keyId)])
    await expect(showKey(sql, secrets, { accountId, keyId })).rejects.toThrow('damaged')
  })

  test('after a rotation old keys are found and shown, and new ones use the new secrets', async () => {
    const accountId = await newAccount()
    const old = await createKey(sql, secrets, { accountId })
    const extend = (set: typeof secrets.peppers): typeof secrets.peppers => ({
      currentId: 2,
      secrets: new Map([...set.secrets, [2, parseSecretSet('NEW', generateSecretSet()).secrets.get(1)!]]),
    })
    const rotated = { service: 'test', peppers: extend(secrets.peppers), encryption: extend(secrets.encryption) }
    const fresh = await createKey(sql, rotated, { accountId })
    for (const { key, keyId } of [old, fresh]) {
      expect(await finder.find(candidateHashes(rotated, key))).toMatchObject({ accountId, keyId, state: 'active' })
      expect(await showKey(sql, rotated, { accountId, keyId })).toEqual({ outcome: 'revealed', key })
    }
    expect(await finder.find(candidateHashes(secrets, fresh.key))).toBeNull()
    await expect(showKey(sql, secrets, { accountId, keyId: fresh.keyId })).rejects.toThrow(
      'key number 2 is not configured',
    )
  })
})

describe('looking up a presented key', () => {
  test('finds each of many keys that arrive together, and nothing for text that is not a key', async () => {
    const accountId = await newAccount()
    const keys = await Promise.all(Array.from({ length: 10 }, () => createKey(sql, secrets, { accountId })))
    const odd = ['', "' or 1=1 --", 'sk-test-\0', 'x'.repeat(10_000), '{"$ne":1}', 'ключ', keys[0]!.key.slice(0, -1)]
    const asked = [...keys.map(({ key }) => key), ...odd]
    const found = await Promise.all(asked.map(key => finder.find(candidateHashes(secrets, key))))
    expect(found.map(key => key?.keyId ?? null)).toEqual([...keys.map(({ keyId }) => keyId), ...odd.map(() => null)])
    expect(found[3]).toEqual({
      accountId,
      keyId: keys[3]!.keyId,
      state: 'active',
      rateLimitPerMinute: null,
      concurrencyMax: null,
      allowedModels: null,
      walletEmpty: true,
      keysVersion: 0,
      keyHash: hashKey(secrets, keys[3]!.key).hash,
    })
  })

  test('sees a revocation at the next look-up', async () => {
    const accountId = await newAccount()
    const { key, keyId } = await createKey(sql, secrets, { accountId })
    await revokeKey(sql, { accountId, keyId })
    expect(await finder.find(candidateHashes(secrets, key))).toMatchObject({ accountId, keyId, state: 'revoked' })
  })

  test('many look-ups that are answered together continue in several turns of the event loop', async () => {
    const perTurn: number[] = [0]
    const nextTurn = () => setImmediate(() => perTurn.push(0) && ticking && nextTurn())
    let ticking = true
    nextTurn()
    const all = Array.from({ length: 200 }, (_, n) =>
      finder.find([Buffer.alloc(32, n)]).then(() => perTurn[perTurn.length - 1]!++),
    )
    await Promise.all(all)
    ticking = false
    expect(perTurn.reduce((sum, count) => sum + count)).toBe(200)
    // There are two queues, and each delivers at most twenty answers per turn of the event loop.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(40)
  })

  test('is unavailable, rather than wrong, while the database is away', async () => {
    const nowhere = createKeyFinder({ url: 'postgres://x:y@127.0.0.1:1/z', retryMs: 50 })
    await expect(nowhere.find([Buffer.alloc(32)])).rejects.toMatchObject({ code: 'ledger_unavailable', status: 503 })
    await nowhere.close()
  })
})
