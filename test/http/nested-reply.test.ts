/** An absurdly nested reply counts as the provider's fault, and costs nothing. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { MESSAGE } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { end, head, type ScriptedUpstream, startScriptedUpstream, write } from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const REPLIES = {
  'an unknown field': JSON.stringify(MESSAGE).replace('{', `{"deep":${DEEP},`),
  'the input of a tool': JSON.stringify({
    ...MESSAGE,
    content: [{ type: 'tool_use', id: 't', name: 'f', input: { deep: 'DEEP' } }],
    stop_reason: 'tool_use',
  }).replace('"DEEP"', DEEP),
}

let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
let reply = ''
let status = 200
beforeAll(async () => {
  provider = await startScriptedUpstream(() => [
    head(status, { 'content-type': 'application/json' }),
    write(reply),
    end(),
  ])
  running = await startTestGateway({ upstreams: { anthropic: provider.url } })
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

test.each(Object.entries(REPLIES))('a reply nested 100,000 deep in %s is a 502', async (_place, nested) => {
  reply = nested
  const tools = [{ name: 'f', input_schema: { type: 'object' } }]
  const answer = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, tools, messages: [{ role: 'user', content: 'x' }] }),
  })
  expect(answer.status).toBe(502)
  expect(await answer.json()).toMatchObject({ error: { type: 'api_error', code: 'upstream_failed' } })
  expect(await running.usage(account.accountId)).toSatisfy(rows =>
    rows.every((row: { cost: bigint }) => row.cost === 0n),
  )
})

test.each([200, 400, 529])('an error with details nested 100,000 deep and status %i is answered', async errorStatus => {
  status = errorStatus
  reply = `{"type":"error","error":{"type":"invalid_request_error","message":"No.","details":{"a":${DEEP}}}}`
  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    const answer = await fetch(running.url + path, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
      signal: AbortSignal.timeout(10_000),
    })
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) } })
  }
})
