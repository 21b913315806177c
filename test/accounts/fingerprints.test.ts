import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { findForeignSecrets, trustSecrets } from '../../src/accounts/fingerprints.ts'
import type { KeySecrets } from '../../src/accounts/key-secret.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { environmentConfig, layFoundation } from '../../src/app/foundation.ts'
import { parseSecretSet } from '../../src/lib/secrets.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

const secret = (): string => randomBytes(32).toString('base64')
const [first, second, other] = [secret(), secret(), secret()]
const setOf = (peppers: string, encryption = `1:${first}`): KeySecrets => ({
  service: 'test',
  peppers: parseSecretSet('KEY_PEPPERS', peppers),
  encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', encryption),
})
const foreign = (secrets: KeySecrets) => findForeignSecrets(database.sql, secrets)

test('a different secret under a known number is foreign, for peppers and encryption keys alike', async () => {
  expect(await foreign(setOf(`1:${first}`))).toEqual([])
  expect(await foreign(setOf(`1:${first}`))).toEqual([])
  expect(await foreign(setOf(`1:${other}`))).toEqual(['KEY_PEPPERS 1'])
  expect(await foreign(setOf(`1:${first}`, `1:${other}`))).toEqual(['KEY_ENCRYPTION_KEYS 1'])
})

test('a rotation with a standby number is accepted at each of its steps', async () => {
  const steps = [`1:${first}`, `1:${first},2:${second}:standby`, `1:${first},2:${second}`, `2:${second}`, `1:${first}`]
  for (const step of steps) expect(await foreign(setOf(step))).toEqual([])
  expect(await foreign(setOf(`1:${first},2:${other}:standby`))).toEqual(['KEY_PEPPERS 2'])
})

test('keys that are older than the fingerprints reveal foreign secrets, too', async () => {
  const { accountId } = await createAccount(database.sql, 'a@example.com')
  await createKey(database.sql, setOf(`1:${first}`), { accountId })
  expect(await foreign(setOf(`1:${other}`))).toEqual(['KEY_PEPPERS 1'])
  expect(await foreign(setOf(`1:${other}`, `1:${other}`))).toContain('KEY_ENCRYPTION_KEYS 1')
  await database.sql`delete from secret_fingerprint`
  expect(await foreign(setOf(`1:${first}`))).toEqual([])
})

test('many processes that start at once agree on the first fingerprint', async () => {
  const answers = await Promise.all([first, first, other, other].map(pepper => foreign(setOf(`1:${pepper}`))))
  const refused = answers.filter(answer => answer.length > 0)
  expect(refused).toEqual([['KEY_PEPPERS 1'], ['KEY_PEPPERS 1']])
})

test('the fingerprint is not the hash of anything that is stored elsewhere, and differs by number and purpose', async () => {
  await foreign(setOf(`1:${first},2:${first}`))
  const rows = await database.sql`select encode(fingerprint, 'hex') as hex from secret_fingerprint`
  expect(new Set(rows.map(row => row.hex)).size).toBe(3)
  for (const { hex } of rows) expect(hex).not.toContain(Buffer.from(first, 'base64').toString('hex'))
})

test('a gateway and the command line refuse to start with foreign secrets and say what to do; trusted secrets keep working', async () => {
  const environment = (pepper: string) => ({
    DATABASE_URL: database.url,
    KEY_PEPPERS: `1:${pepper}`,
    KEY_ENCRYPTION_KEYS: `1:${first}`,
  })
  const lay = (pepper: string, anySecrets = false) =>
    layFoundation(environmentConfig(environment(pepper)), { anySecrets })
  await (await lay(first)).close()
  const refusal = lay(other)
  await expect(refusal).rejects.toThrow(/KEY_PEPPERS 1: this database was used with a different secret.*secrets trust/)
  await expect(refusal).rejects.not.toThrow(other)
  const trusting = await lay(other, true)
  expect(await trustSecrets(trusting.sql, trusting.secrets)).toEqual(['KEY_PEPPERS 1'])
  await trusting.close()
  await (await lay(other)).close()
  await expect(lay(first)).rejects.toThrow('KEY_PEPPERS 1')
})
