/** If a client leaves before its body is read, the body's memory permit and the key's in-flight slot become free again. */

import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { limitConcurrency } from '../../src/accounts/key-rate.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { announce } from '../../src/operations/channel.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const GOOD = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000n * 1_000_000n)
})
afterAll(() => running.close())

function permitted(): number {
  return running.gateway.server.bodies.permits.bytes
}

function connections(): Promise<number> {
  return new Promise((resolve, reject) =>
    running.gateway.server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}

async function served(): Promise<number> {
  const answer = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, connection: 'close' },
    body: GOOD,
  })
  await answer.text()
  return answer.status
}

/** Sends the head of a call and part of its body, and disconnects once the gateway has received it. */
async function sendAndLeave(head: string, body: Buffer | string): Promise<void> {
  const { port, hostname } = new URL(running.url)
  const socket = connect({ port: Number(port), host: hostname })
  const arrived = new Promise(resolve => running.gateway.server.server.once('request', resolve))
  socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.apiKey}\r\n${head}\r\n\r\n`)
  socket.write(body)
  await arrived
  socket.resetAndDestroy()
  await expect.poll(connections).toBe(0)
}

test.each([
  ['with its body still to come', 'content-length: 5000000', ''],
  ['with its whole body sent', `content-length: ${GOOD.length}`, GOOD],
])('a client that leaves while its key is looked up keeps neither permit nor slot, %s', async (_name, head, body) => {
  const { accountId, keyId } = account
  const { sql } = running.database
  await limitConcurrency(sql, { accountId, keyId, by: COMMAND_LINE }, 1)
  await announce(sql, 'keys')
  await expect.poll(served).toBe(200)
  await running.gateway.readiness.idle()
  await announce(sql, 'keys')
  await sql.begin(async locked => {
    await locked`lock table api_key in access exclusive mode`
    await sendAndLeave(head, body)
  })
  await expect.poll(served).toBe(200)
  await expect.poll(permitted).toBe(0)
})

test('a client that leaves after sending a compressed body keeps no permit', async () => {
  const body = gzipSync(Buffer.from(GOOD.replace('"x"', `"${'ab'.repeat(8_000_000)}"`)))
  for (let count = 0; count < 20; count++) {
    await sendAndLeave(`content-encoding: gzip\r\ncontent-length: ${body.length}`, body)
  }
  await running.gateway.readiness.idle()
  await expect.poll(permitted).toBe(0)
  expect(await served()).toBe(200)
})
