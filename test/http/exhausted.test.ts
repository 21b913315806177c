/** A machine that has no file descriptor or port left blames itself, not the provider. */

import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { chatCall, MESSAGE } from '../support/chat.ts'
import { replaceDns } from '../support/dns.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

const ENTRY = 'claude-opus-5'
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
let restoreDns: () => void
const lookup = vi.fn()

beforeAll(async () => {
  restoreDns = replaceDns({ lookup })
  provider = await startScriptedUpstream(() => json(200, MESSAGE, { connection: 'close' }))
  const { port } = new URL(provider.url)
  running = await startTestGateway({ upstreams: { anthropic: `http://provider.test:${port}` } })
  account = await running.account(1_000_000_000_000n)
})
beforeEach(() => lookup.mockReset())
afterAll(async () => {
  restoreDns()
  await running?.close()
  await provider?.close()
})

function call() {
  const headers = { 'x-api-key': account.apiKey }
  return fetch(`${running.url}/v1/messages`, { method: 'POST', headers, body: chatCall(ENTRY) })
}

// Each as the system reports it; the last when a name is to be looked up without a file descriptor.
test.each(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM', 'EBUSY'])(
  'a call without a connection because of %s is a 503, and the next one is served by the same provider',
  async code => {
    lookup.mockImplementation(async () => Promise.reject(Object.assign(new Error(code), { code })))
    // More than open a circuit.
    for (let calls = 0; calls < 6; calls++) {
      const refused = await call()
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await refused.json()).toMatchObject({
        type: 'error',
        error: { message: 'Too many connections are open at the moment; try again later.' },
      })
    }
    lookup.mockResolvedValue([{ address: '127.0.0.1', family: 4 }])
    const [status] = running.gateway.upstreams.status().filter(({ id }) => id === 'anthropic')
    expect(status).toMatchObject({ state: 'well', failures: 0 })
    const served = await call()
    expect(served.status).toBe(200)
    await served.arrayBuffer()
  },
)
