/** A key that may call some models only keeps working when one of them retires or leaves the catalogue. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeKey } from '../../src/accounts/key-settings.ts'
import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry, Tables } from '../../src/generated/types.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { UNLIMITED } from '../support/keys.ts'

const RETIRED = { sinceOn: '2026-01-15', retiresOn: '2026-03-01', successor: 'gpt-5.4' }
const ENTRIES: readonly ModelEntry[] = TABLES.entries
/** gpt-5.2 has retired, and its successor is gpt-5.4. gpt-5.1 has been removed, and its id is an alias of gpt-5.4. */
const TABLES_NOW: Tables = {
  ...TABLES,
  settings: {
    ...TABLES.settings,
    aliases: { ...TABLES.settings.aliases, 'gpt-5.1': 'gpt-5.4', 'gpt-5.1-2025-11-13': 'gpt-5.4' },
  },
  entries: ENTRIES.filter(({ id }) => id !== 'gpt-5.1').map(entry => {
    if (entry.id === 'gpt-5.4') return { ...entry, deprecated: null, aliases: [...entry.aliases, 'gpt-5.1'] }
    return entry.id === 'gpt-5.2' ? { ...entry, deprecated: RETIRED } : entry
  }),
}

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway({ tables: TABLES_NOW })
})
afterAll(() => running.close())

async function restricted(...allowedModels: string[]) {
  const { accountId, keyId, apiKey } = await running.account(1_000_000_000_000n)
  await changeKey(running.database.sql, { accountId, keyId }, { ...UNLIMITED, allowedModels })
  const headers = { 'x-api-key': apiKey }
  return {
    async call(model: string) {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })
      const reply = await fetch(`${running.url}/v1/chat/completions`, { method: 'POST', headers, body })
      const { error } = (await reply.json()) as { error?: { code: string } }
      return [reply.status, error?.code ?? reply.headers.get('x-svc-model')]
    },
    async list() {
      const reply = await fetch(`${running.url}/v1/models`, { headers })
      return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
    },
    one: async (id: string) => (await fetch(`${running.url}/v1/models/${id}`, { headers })).status,
  }
}

test.each([
  ['has retired', 'gpt-5.2'],
  ['was removed and became an alias', 'gpt-5.1'],
])('a key for a model that %s may call what answers for it, and nothing else', async (_, model) => {
  const key = await restricted(model, 'gpt-5-nano')
  expect(await key.call(model)).toEqual([200, 'gpt-5.4'])
  expect(await key.call('gpt-5.4')).toEqual([200, 'gpt-5.4'])
  expect(await key.call('gpt-5.5')).toEqual([403, 'model_not_allowed'])
  expect(await key.call('unheard-of')).toEqual([403, 'model_not_allowed'])
  expect(await key.list()).toContain('gpt-5.4')
  expect(await key.list()).not.toContain('gpt-5.5')
  expect([await key.one(model), await key.one('gpt-5.4'), await key.one('gpt-5.5')]).toEqual([200, 200, 403])
})

test('a key for other models may not call the successor', async () => {
  const key = await restricted('gpt-5.5')
  expect(await key.call('gpt-5.2')).toEqual([403, 'model_not_allowed'])
  expect(await key.list()).toEqual(['gpt-5.5'])
})
