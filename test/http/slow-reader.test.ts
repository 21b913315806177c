/** A client that does not read: the gateway buffers a bounded amount for it, and delivers everything once it reads. */

import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { chatCall, MESSAGES_END, MESSAGES_START, textDelta } from '../support/chat.ts'
import { startTestGateway } from '../support/gateway.ts'

const STREAM_BYTES = 96 * 2 ** 20
/** Maximum number of bytes buffered between provider and client: by the gateway, and by the kernel for both connections. */
const WAITING_BYTES_MAX = 24 * 2 ** 20

test('pauses the provider while the client does not read, and delivers everything in the end', async () => {
  let sent = 0
  const chunk = Buffer.from(textDelta('x'.repeat(1000)).repeat(60))
  const provider = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(MESSAGES_START.join(''))
    while (sent < STREAM_BYTES && !response.destroyed) {
      sent += chunk.length
      if (!response.write(chunk)) await once(response, 'drain').catch(() => {})
    }
    response.end(MESSAGES_END.join(''))
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const running = await startTestGateway({ upstreams: { anthropic: url } })
  try {
    const account = await running.account(1_000_000n * 1_000_000n)
    const call = request(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': account.apiKey } })
    call.end(chatCall('claude-opus-5', { stream: true }))
    const [response] = await once(call, 'response')
    // The client does not read until the provider has stalled.
    for (let before = -1, quiet = 0; quiet < 10; before = sent) {
      await new Promise(resolve => setTimeout(resolve, 30))
      quiet = sent === before ? quiet + 1 : 0
    }
    expect(sent).toBeLessThan(WAITING_BYTES_MAX)
    let received = 0
    let tail = Buffer.alloc(0)
    for await (const part of response as AsyncIterable<Buffer>) {
      received += part.length
      tail = Buffer.concat([tail, part]).subarray(-100)
    }
    expect(received).toBeGreaterThan(STREAM_BYTES)
    expect(tail.toString()).toContain('message_stop')
    expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, output_tokens: 25, estimated: false }])
  } finally {
    await running.close()
    provider.closeAllConnections()
    provider.close()
  }
})
