/** A provider's interim (1xx) replies have no effect. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { goodMessage, MESSAGE } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { hang, raw, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n',
]

let provider: ScriptedUpstream
let running: TestGateway
let ahead = ''
let endless = false
beforeAll(async () => {
  provider = await startScriptedUpstream(() => [raw(ahead), ...(endless ? [hang()] : goodMessage)])
  running = await startTestGateway({ upstreams: { anthropic: provider.url } })
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

test.each([...INTERIM, INTERIM.join('')])('%j before a 200 is ignored, and the call is made once', async interim => {
  ahead = interim
  const before = provider.requests.length
  const { apiKey } = await running.account(1_000_000n * 1_000_000n)
  const body = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
  const answer = await fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': apiKey }, body })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ content: MESSAGE.content })
  expect(provider.requests.length).toBe(before + 1)
})

test('a provider that sends nothing but interim replies is given up', async () => {
  ahead = (INTERIM[1] as string).repeat(1000)
  endless = true
  const { apiKey } = await running.account(1_000_000n * 1_000_000n)
  const body = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
  const answer = await fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': apiKey }, body })
  expect(answer.status).toBe(502)
  expect(provider.requests.length).toBeGreaterThan(0)
  expect(await provider.requests.at(-1)?.outcome).toBe('broken')
})
