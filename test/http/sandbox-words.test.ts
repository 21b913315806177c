/** What a client of the gateway reads when it mistypes one of the sandbox's words. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let apiKey: string

beforeAll(async () => {
  running = await startTestGateway()
  ;({ apiKey } = await running.account(1_000_000_000_000n))
})
afterAll(() => running.close())

test.each([
  ['claude-opus-5', 'sandbox:eror=429', 'sandbox:eror is not a known word'],
  ['claude-opus-5', 'sandbox:error=999', 'sandbox:error takes 400, 401'],
  ['gpt-5.5', 'sandbox:error', 'sandbox:error takes 400, 401'],
  ['svc/claude-opus-5', 'sandbox:slow=fast', 'sandbox:slow takes nothing, or tokens per second'],
])('%s: %s is a 400 that says what to write', async (model, word, said) => {
  const response = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ model, max_tokens: 50, messages: [{ role: 'user', content: `hi ${word}` }] }),
  })
  const { error } = (await response.json()) as { error: { message: string } }
  expect([response.status, error.message]).toEqual([400, expect.stringContaining(said)])
})
