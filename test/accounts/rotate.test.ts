import { afterAll, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { candidateHashes } from '../../src/accounts/key-secret.ts'
import { createKey, listKeys, revokeKey, showKey } from '../../src/accounts/keys.ts'
import { readSecretsInUse, rotateKeys } from '../../src/accounts/rotate.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createTestDatabase } from '../support/postgres.ts'

const first = generateSecretSet()
const second = generateSecretSet().replace('1:', '2:')
const secretsOf = (text: string) => ({
  service: 'svc',
  peppers: parseSecretSet('KEY_PEPPERS', text),
  encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', text),
})
const before = secretsOf(first)
const both = secretsOf(`${first},${second}`)
const after = secretsOf(second)

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

test('after a rotation every key that has a copy works and is shown without the old secrets', async () => {
  const keys = []
  for (let person = 0; person < 25; person++) {
    const { accountId } = await createAccount(sql, `rotate-${person}@example.com`)
    for (let n = 0; n < 10; n++) keys.push({ accountId, ...(await createKey(sql, before, { accountId })) })
  }
  const [revoked, withoutCopy, damaged, ...plain] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]]
  await revokeKey(sql, revoked)
  await sql`update api_key set encryption_id = null, encryption_iv = null, ciphertext = null
    where key_id = ${String(withoutCopy.keyId)}::text::bigint`
  await sql`update api_key set ciphertext = set_byte(ciphertext, 3, get_byte(ciphertext, 3) # 1)
    where key_id = ${String(damaged.keyId)}::text::bigint`

  const { rotated, unreadable } = await rotateKeys(sql, both)
  expect(rotated).toBe(plain.length)
  expect(unreadable).toEqual([{ accountId: damaged.accountId, keyId: damaged.keyId }])

  for (const { accountId, keyId, key } of plain as typeof keys) {
    expect(await showKey(sql, after, { accountId, keyId })).toEqual({ outcome: 'revealed', key })
  }
  const stored = await sql`select encode(key_hash, 'hex') as hash, pepper_id from api_key where pepper_id = 2`
  const expected = (plain as typeof keys).map(({ key }) => Buffer.from(candidateHashes(after, key)[0]!).toString('hex'))
  expect(stored.map(row => row.hash).sort()).toEqual(expected.sort())
  expect((await listKeys(sql, revoked.accountId))[0]).toMatchObject({ keyId: revoked.keyId, showable: false })
  expect(await readSecretsInUse(sql, both)).toEqual({
    peppers: new Map([
      [1, 2],
      [2, plain.length],
    ]),
    encryption: new Map([
      [1, 1],
      [2, plain.length],
    ]),
    withoutCopy: 1,
    wrong: { peppers: new Set(), encryption: new Set([1]) },
  })
  expect(await rotateKeys(sql, both)).toEqual({ rotated: 0, unreadable, unreadableAuthenticators: [] })
})

test('a different secret under the number of the old one is detected', async () => {
  const other = await createTestDatabase()
  try {
    const { accountId } = await createAccount(other.sql, 'wrong@example.com')
    await createKey(other.sql, before, { accountId })
    const stranger = secretsOf(generateSecretSet())
    const wrongOf = async (secrets: typeof before) => (await readSecretsInUse(other.sql, secrets)).wrong
    expect(await wrongOf(before)).toEqual({ peppers: new Set(), encryption: new Set() })
    expect(await wrongOf(stranger)).toEqual({ peppers: new Set(), encryption: new Set([1]) })
    expect(await wrongOf({ ...before, peppers: stranger.peppers })).toEqual({
      peppers: new Set([1]),
      encryption: new Set(),
    })
    expect(await wrongOf(after)).toEqual({ peppers: new Set(), encryption: new Set() })
  } finally {
    await other.drop()
  }
})

test('a gateway that has cached a key under its old hash still serves it after a rotation, but not after a revocation', async () => {
  const gateway = await startTestGateway({ secrets: `${first},${second}:standby` })
  try {
    const { accountId, keyId, apiKey } = await gateway.account(1_000_000_000n)
    const call = () =>
      fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'claude-opus-5',
          max_tokens: 20,
          messages: [{ role: 'user', content: 'Xin chào' }],
        }),
      })
    expect((await call()).status).toBe(200)
    expect((await rotateKeys(gateway.database.sql, both)).rotated).toBe(1)
    expect((await call()).status).toBe(200)
    await revokeKey(gateway.database.sql, { accountId, keyId })
    expect((await call()).status).toBe(401)
    expect((await gateway.usage(accountId)).map(row => row.status)).toEqual([200, 200, 401])
  } finally {
    await gateway.close()
  }
})
