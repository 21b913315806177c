import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { KeySecrets } from '../../src/accounts/key-secret.ts'
import { readConfig } from '../../src/app/config.ts'
import type { Foundation } from '../../src/app/foundation.ts'
import { ACTIONS } from '../../src/cli/actions.ts'
import { readCommand } from '../../src/cli/arguments.ts'
import type { Answer } from '../../src/cli/commands.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { secrets } from '../ledger/world.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'backup-commands-'))
const databases = await Promise.all([createTestDatabase(), createTestDatabase(), createTestDatabase()])
const [old, same, other] = databases
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await Promise.all(databases.map(database => database.drop()))
})

async function run({ url, sql }: TestDatabase, own: KeySecrets, ...argv: string[]): Promise<Answer> {
  const command = readCommand(argv)!
  const config = readConfig({ environment: { SANDBOX: 'off' }, upstreamIds: [] })
  const facts = { databaseUrl: url, databaseDirectUrl: null, embedded: false, close: async () => {} }
  const foundation: Foundation = { config, secrets: own, sql, ...facts }
  return ACTIONS[command.spec.name]!(foundation, command)
}

test('a restore says which secrets the keys need, and that all is well with those of the backup', async () => {
  const file = join(folder, 'backup.gz')
  await run(old, secrets, 'account', 'create', 'person@example.com', '--credit', '1000')
  await run(old, secrets, 'backup', file)
  const well = await run(same, secrets, 'restore', file)
  expect([well.failed, well.text.endsWith('No differences.')]).toEqual([false, true])
  const others = {
    service: secrets.service,
    peppers: parseSecretSet('KEY_PEPPERS', generateSecretSet()),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', generateSecretSet()),
  }
  const unwell = await run(other, others, 'restore', file)
  expect(unwell.failed).toBe(true)
  expect(unwell.data).toMatchObject({ secrets_missing: true, audit: { clean: true } })
  expect(unwell.text).toMatch(
    /Set KEY_PEPPERS and KEY_ENCRYPTION_KEYS to the values of the gateways that the keys come from:\n[\s\S]*WRONG SECRET/,
  )
})
