/**
 * Prepares a database for benching the source tree that contains this file: creates the tables, and a key with money. Prints
 * the key and the secrets as JSON. With `BENCH_KEY_LIMITS=1` the key has limits of every kind, which no call reaches.
 */

import { createAccount } from '../../src/accounts/accounts.ts'
import { limitConcurrency } from '../../src/accounts/key-rate.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { credit } from '../../src/ledger/credit.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase } from '../../src/lib/database.ts'
import { vndToMicro } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

const BALANCE_VND = 1_000_000_000
const KEY_LIMITS = {
  limitVnd: 900_000_000,
  limitReset: 'monthly',
  callsPerMinute: 1_000_000,
  callsInFlight: 1_000,
} as const

const peppers = generateSecretSet()
const encryption = generateSecretSet()
const sql = openDatabase({ url: process.env.DATABASE_URL as string, name: 'bench', connectionsMax: 2 })
await migrate(sql)
const { accountId } = await createAccount(sql, 'bench@example.com')
const { keyId, key } = await createKey(
  sql,
  {
    service: 'svc',
    peppers: parseSecretSet('KEY_PEPPERS', peppers),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', encryption),
  },
  { accountId },
)
if (process.env.BENCH_KEY_LIMITS === '1') {
  // Older trees, which are prepared by this file too, have no such module.
  const { changeKey } = await import('../../src/accounts/key-settings.ts')
  await changeKey(sql, { accountId, keyId }, { label: 'bench', expiresAt: null, allowedModels: null, ...KEY_LIMITS })
} else {
  await limitConcurrency(sql, { accountId, keyId, by: COMMAND_LINE }, 0)
}
await credit(sql, { accountId, amountMicroVnd: vndToMicro(BALANCE_VND), kind: 'adjustment', reference: 'bench' })
await sql.end()
process.stdout.write(JSON.stringify({ apiKey: key, peppers, encryption }))
