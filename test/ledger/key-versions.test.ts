/** The version of a wallet's keys: as long as it lasts, holds are placed without reading the key. */

import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { changeKey, pauseKey, setKeyCap } from '../../src/accounts/key-settings.ts'
import { lockKeys, revokeAllKeys, revokeKey } from '../../src/accounts/keys.ts'
import { playgroundKey } from '../../src/accounts/playground-key.ts'
import { replaceSecret } from '../../src/accounts/replace-secret.ts'
import { rotateKeys } from '../../src/accounts/rotate.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  call,
  createCustomer,
  eventually,
  holdRequest,
  keysVersionOf,
  patient,
  secrets,
  startLedger,
  withNewKey,
} from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const ledger = await startLedger(database.url)
afterAll(async () => {
  await ledger.close()
  await database.drop()
})

/** Columns of a key that do not decide whether it may make a call. */
const INDIFFERENT = [
  'account_id',
  'ciphertext',
  'concurrency_max',
  'counted_before',
  'counted_micro_vnd',
  'created_at',
  'encryption_id',
  'encryption_iv',
  'label',
  'last4',
  'pepper_id',
  'playground',
  'rate_limit_per_minute',
  // The secret before a rotation is found by its own hash, and the key is then read for each call.
  'replaced_hash',
  'replaced_pepper_id',
  'replaced_until',
  'rotated_at',
  'rotations',
  'submission',
]

test('changes with every column of a key that decides whether it may make a call, and with no other', async () => {
  const customer = await createCustomer(sql, CALL_MICRO_VND)
  const columns = await sql`select attname as name from pg_attribute
    where attrelid = 'api_key'::regclass and attnum > 0 and not attisdropped and attidentity = ''`
  const unchanged: string[] = []
  for (const { name } of columns) {
    const before = await keysVersionOf(sql, customer)
    await sql.unsafe(`update api_key set ${name} = ${name} where key_id = $1::text::bigint`, [String(customer.keyId)])
    const after = await keysVersionOf(sql, customer)
    expect(after).toBeGreaterThanOrEqual(before)
    if (after === before) unchanged.push(name)
  }
  expect(unchanged.sort()).toEqual(INDIFFERENT)
})

const REVOKE = `update api_key set revoked_at = now(), ciphertext = null, encryption_id = null, encryption_iv = null`

test.each([
  [REVOKE, { outcome: 'refused_key', state: 'revoked' }],
  ['update api_key set suspended_at = now()', { outcome: 'refused_key', state: 'blocked' }],
  ['update api_key set disabled_at = now()', { outcome: 'refused_key', state: 'disabled' }],
  ['update api_key set expires_at = now()', { outcome: 'refused_key', state: 'expired' }],
  [`update api_key set allowed_models = '{model-b}'`, { outcome: 'refused_model' }],
  ['update api_key set monthly_cap_micro_vnd = 1', { outcome: 'capped' }],
  ['update api_key set key_hash = sha256(key_hash)', { outcome: 'refused_key', state: 'unknown' }],
  ['delete from api_key', { outcome: 'refused_key', state: 'unknown' }],
])('counts at the next call of a process that knows the key from before: %s', async (change, answer) => {
  const customer = await createCustomer(sql, 10n * CALL_MICRO_VND)
  const other = await withNewKey(sql, customer)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  await sql.unsafe(`${change} where key_id = $1::text::bigint`, [String(customer.keyId)])
  expect((await call(ledger, customer)).held).toMatchObject(answer)
  expect((await call(ledger, other)).held.outcome).toBe('admitted')
})

test('counts for a call whose hold waits while the key is being revoked', async () => {
  const customer = await createCustomer(sql, 10n * CALL_MICRO_VND)
  const { waiting } = await sql.begin(async transaction => {
    await transaction.unsafe(`${REVOKE} where key_id = ${customer.keyId}`)
    const waiting = ledger.admit(holdRequest(customer), patient)
    await eventually(
      async () =>
        (
          await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and application_name = 'gateway holds'`
        ).length,
      sessions => sessions === 1,
    )
    return { waiting }
  })
  expect(await waiting).toEqual({ outcome: 'refused_key', state: 'revoked' })
})

const NO_LIMITS = { limitVnd: null, limitReset: null, expiresAt: null, allowedModels: null } as const
const SETTINGS = { ...NO_LIMITS, label: 'new', callsPerMinute: null, callsInFlight: null }
const newer = { currentId: 2, secrets: new Map([...secrets.encryption.secrets, [2, randomBytes(32)]]) }

test.each<readonly [string, (customer: Customer) => Promise<unknown>]>([
  ['revoked', customer => revokeKey(sql, customer)],
  ['paused', customer => pauseKey(sql, customer, true)],
  ['limited', customer => setKeyCap(sql, { ...customer, capVnd: 1 })],
  ['changed', customer => changeKey(sql, customer, SETTINGS)],
  ['replaced', customer => replaceSecret(sql, secrets, { ...customer, rotations: 0, overlapHours: 1 })],
  ['sealed again', () => rotateKeys(sql, { ...secrets, encryption: newer })],
  ['used in a playground with another limit', customer => playgroundKey(sql, secrets, { ...customer, dailyVndMax: 2 })],
])('a key can be %s while its account is being deleted, and neither fails', async (_, change) => {
  const customer = await createCustomer(sql, CALL_MICRO_VND)
  await playgroundKey(sql, secrets, { ...customer, dailyVndMax: 1 })
  const { changing } = await sql.begin(async transaction => {
    await lockKeys(transaction, customer.accountId)
    const changing = change(customer)
    await eventually(
      () => sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      sessions => sessions.length === 1,
    )
    await revokeAllKeys(transaction, customer.accountId)
    return { changing }
  })
  await changing
  expect((await call(ledger, customer)).held).toEqual({ outcome: 'refused_key', state: 'revoked' })
})
