/** Gateways and commands whose secrets differ: keys must not be stored under a secret that a gateway does not know. */

import { afterAll, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { ACTIONS } from '../../src/cli/actions.ts'
import { readCommand } from '../../src/cli/arguments.ts'
import type { Answer } from '../../src/cli/commands.ts'
import { createLog } from '../../src/lib/log.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const first = generateSecretSet()
const second = generateSecretSet().replace('1:', '2:')
const [ignorant, prepared] = await Promise.all([
  startTestGateway({ secrets: first }),
  startTestGateway({ secrets: `${first},${second}:standby` }),
])
afterAll(() => Promise.all([ignorant.close(), prepared.close()]))

/** Runs a command whose environment has both secrets, the second one in force. */
function run({ database: { url, sql } }: TestGateway, ...argv: readonly string[]): Promise<Answer> {
  const command = readCommand(argv)!
  const config = readConfig({ environment: { SANDBOX: 'off' }, upstreamIds: [] })
  const secrets = {
    service: 'svc',
    peppers: parseSecretSet('KEY_PEPPERS', `${first},${second}`),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', `${first},${second}`),
  }
  const facts = { databaseUrl: url, databaseDirectUrl: null, embedded: false, close: async () => {} }
  return ACTIONS[command.spec.name]!({ config, secrets, sql, ...facts }, command)
}

async function statusOf({ url }: TestGateway, apiKey: string): Promise<number> {
  return (await fetch(`${url}/v1/key`, { headers: { 'x-api-key': apiKey } })).status
}

test('no command stores keys under a secret that a running gateway does not know', async () => {
  const { email, keyId, apiKey } = await ignorant.account(1_000n)
  for (const argv of [
    ['secrets', 'rotate'],
    ['key', 'create', email],
    ['key', 'rotate', email, String(keyId)],
    ['account', 'create', 'another@example.com'],
  ]) {
    await expect(run(ignorant, ...argv)).rejects.toThrow(/does not know KEY_PEPPERS 2 and KEY_ENCRYPTION_KEYS 2/)
  }
  expect(await statusOf(ignorant, apiKey)).toBe(200)
})

test('once every gateway has the secret on standby, keys move to it and work', async () => {
  const { email, apiKey } = await prepared.account(1_000n)
  const rotated = await run(prepared, 'secrets', 'rotate')
  expect([rotated.failed, rotated.data]).toMatchObject([false, { rotated: 1 }])
  expect(await statusOf(prepared, apiKey)).toBe(200)
  const created = await run(prepared, 'key', 'create', email)
  expect(await statusOf(prepared, (created.data as { api_key: string }).api_key)).toBe(200)
})

test('no secrets are trusted in place of those that a running gateway has', async () => {
  await expect(run(ignorant, 'secrets', 'trust')).rejects.toThrow(/is running with the secrets of this database/)
})

test('a gateway that lacks the pepper of active keys says so when it starts', async () => {
  const lines: string[] = []
  const log = createLog('error', { to: { write: line => void lines.push(line) } })
  const gateway = await startTestGateway({ secrets: `${first},${second}:standby`, log })
  try {
    const { email } = await gateway.account(1_000n)
    await run(gateway, 'key', 'create', email)
    await gateway.sibling()
    expect(lines).toEqual([])
    const without = parseSecretSet('KEY_PEPPERS', first)
    Object.assign(gateway.secrets, { peppers: without })
    await gateway.sibling()
    await vi.waitFor(() => expect(lines).toEqual([expect.stringMatching(/"keys":1,.*KEY_PEPPERS lacks their pepper/)]))
  } finally {
    await gateway.close()
  }
})
