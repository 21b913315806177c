/**
 * Helpers for tests with several gateways on one database: customers whose keys work on all of them, folders and environments.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../../src/accounts/accounts.ts'
import { limitConcurrency } from '../../src/accounts/key-rate.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { credit } from '../../src/ledger/credit.ts'
import type { Sql } from '../../src/lib/database.ts'
import { vndToMicro } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

const KEY_PEPPERS = generateSecretSet()
const KEY_ENCRYPTION_KEYS = generateSecretSet()
export const secrets = {
  service: 'svc',
  peppers: parseSecretSet('KEY_PEPPERS', KEY_PEPPERS),
  encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', KEY_ENCRYPTION_KEYS),
}

let customers = 0

export async function newCustomer(sql: Sql, creditVnd: number) {
  const { accountId } = await createAccount(sql, `replica-${++customers}@example.com`)
  const { keyId, key: apiKey } = await createKey(sql, secrets, { accountId })
  // Removes the limit: tests make as many calls at once as they like.
  await limitConcurrency(sql, { accountId, keyId, by: COMMAND_LINE }, 0)
  const amountMicroVnd = vndToMicro(creditVnd)
  await credit(sql, { accountId, amountMicroVnd, kind: 'adjustment', reference: 'test' })
  return { accountId, keyId, apiKey }
}

export function newFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gateway-replicas-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export function gatewayEnvironment(given: {
  readonly port: number
  readonly databaseUrl: string
  readonly dataDir: string
  readonly providerUrl: string
}): Readonly<Record<string, string>> {
  return {
    PORT: String(given.port),
    DATABASE_URL: given.databaseUrl,
    DATA_DIR: given.dataDir,
    KEY_PEPPERS,
    KEY_ENCRYPTION_KEYS,
    UPSTREAM_OPENAI_BASE_URL: given.providerUrl,
    UPSTREAM_OPENAI_API_KEY: 'upstream-secret-1',
    // On a busy machine, a thousand calls hold a wallet's money for longer than a call waits by default.
    LIMIT_ADMISSION_WAIT_MS: '120000',
    LIMIT_SETTLE_WAIT_MS: '20000',
  }
}
