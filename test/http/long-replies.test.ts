/**
 * Long replies share a limited amount of memory. Those that do not fit wait, with their provider paused, and clients who do not
 * read theirs meanwhile are disconnected.
 */

import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const MIB = 1024 * 1024
/** Room for one account: half of this. */
const REPLIES_BYTES_MAX = 32 * MIB
const CREDIT = 1_000_000n * 1_000_000n
const PICTURE = 'A'.repeat(7 * MIB)
const WHOLE = JSON.stringify({ created: 1, data: [{ b64_json: PICTURE }] })
const EVENT = `event: image_generation.completed\ndata: ${JSON.stringify({ type: 'image_generation.completed', b64_json: PICTURE })}\n\n`

let provider: Server
let running: TestGateway
/** Gives clients little time to read a long reply while others wait. */
let impatient: TestGateway
beforeAll(async () => {
  provider = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      const isStream = incoming.headers.accept === 'text/event-stream'
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? EVENT : WHOLE)
    })
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const start = (unreadMs: number) =>
    startTestGateway({
      upstreams: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
      environment: {
        LIMIT_REPLY_BYTES_MAX: String(10 * MIB),
        LIMIT_REPLIES_BYTES_MAX: String(REPLIES_BYTES_MAX),
        LIMIT_UNREAD_MS: String(unreadMs),
      },
    })
  running = await start(60_000)
  impatient = await start(1_000)
})
afterAll(async () => {
  await running.close()
  await impatient.close()
  provider.closeAllConnections()
  provider.close()
})

/** Makes a call; the reply's body is not read until somebody does. */
function call({ url }: TestGateway, { apiKey }: TestAccount, stream: boolean): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${url}/v1/images/generations`, { method: 'POST', headers: { 'x-api-key': apiKey }, agent: false }, resolve)
      .on('error', reject)
      .end(JSON.stringify({ model: 'req/gpt-image-2', prompt: 'x', stream }))
  })
}

test.each([false, true])(
  'twenty long replies at once stay within their room, all arrive and are charged (stream: %s)',
  async stream => {
    const account = await running.account(CREDIT)
    const { permits } = running.gateway.server.bodies.replies
    let most = 0
    let waiting = 0
    const watch = setInterval(() => {
      most = Math.max(most, permits.bytes)
      waiting = Math.max(waiting, permits.waiting)
    }, 1)
    const bodies = await Promise.all(Array.from({ length: 20 }, async () => text(await call(running, account, stream))))
    clearInterval(watch)
    expect(bodies.map(body => body.length)).toEqual(Array(20).fill(stream ? EVENT.length : WHOLE.length))
    expect(most).toBeGreaterThan(PICTURE.length)
    expect(most).toBeLessThanOrEqual(REPLIES_BYTES_MAX / 2)
    expect(waiting).toBeGreaterThan(0)
    expect((await running.usage(account.accountId)).map(row => row.charged > 0n)).toEqual(Array(20).fill(true))
    await expect.poll(() => permits.bytes).toBe(0)
  },
)

test('clients who do not read long replies keep out neither another account nor, for long, their own', async () => {
  const idle = await impatient.account(CREDIT)
  const other = await impatient.account(CREDIT)
  const { permits } = impatient.gateway.server.bodies.replies
  const unread = [await call(impatient, idle, false)]
  await expect.poll(() => permits.bytes).toBeGreaterThan(PICTURE.length)
  const lost = new Promise(resolve => unread[0]?.once('error', resolve))
  const more = [call(impatient, idle, false), call(impatient, idle, false)]
  await expect.poll(() => permits.waiting).toBeGreaterThan(0)
  expect((await text(await call(impatient, other, false))).length).toBe(WHOLE.length)
  for (const next of more) unread.push(await next)
  unread[0]?.resume()
  expect(await lost).toMatchObject({ code: 'ECONNRESET' })
  for (const reply of unread.slice(1)) reply.destroy()
  await expect.poll(() => permits.bytes).toBe(0)
})
