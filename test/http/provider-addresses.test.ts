/** Providers whose addresses name the model and a version, and whose keys come in a header of their own. */

import { expect, test } from 'vitest'
import type { Upstream } from '../../src/generated/types.ts'
import { startTestGateway } from '../support/gateway.ts'
import { json, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const OPENAI: Partial<Upstream> = {
  paths: { chat_completions: '/openai/deployments/{model}/chat/completions?api-version=2024-10-21' },
  auth: { scheme: 'header', header: 'api-key' },
}
const tables = changedTables({ upstreams: { openai: OPENAI } })
const REPLY = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5.4-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
}

const call = (url: string, apiKey: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'hi' }] }),
  })

test('the path keeps its query, and the key is sent in the named header only', async () => {
  const upstream = await startScriptedUpstream(() => json(200, REPLY))
  const running = await startTestGateway({
    tables,
    upstreams: { openai: { url: `${upstream.url}/eu`, keys: ['secret'] } },
  })
  try {
    const { apiKey } = await running.account(1_000_000_000_000n)
    const reply = await call(running.url, apiKey)
    expect([reply.status, reply.headers.get('x-svc-input-tokens')]).toEqual([200, '10'])
    const [sent] = upstream.requests
    expect(sent?.path).toBe('/eu/openai/deployments/gpt-5.4-mini/chat/completions?api-version=2024-10-21')
    expect([sent?.headers['api-key'], sent?.headers.authorization]).toEqual(['secret', undefined])
  } finally {
    await running.close()
    await upstream.close()
  }
})

test('without a key, the sandbox stands in at that address too', async () => {
  const running = await startTestGateway({ tables })
  try {
    const { apiKey } = await running.account(1_000_000_000_000n)
    const reply = await call(running.url, apiKey)
    expect([reply.status, reply.headers.get('x-svc-simulated')]).toEqual([200, 'true'])
  } finally {
    await running.close()
  }
})
