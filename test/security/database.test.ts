/** While the database is down, slow or locked, valid keys keep working, pages give up in time, and nothing needs a restart. */

import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Visitor } from '../dashboard/visitor.ts'
import { eventually } from '../ledger/world.ts'
import { type GatewayProcess, startProcess } from './process.ts'

const GOOD = '{"model":"claude-opus-5","max_tokens":5,"messages":[{"role":"user","content":"x"}]}'

/** Relays connections to Postgres, so that a test can break them. */
let relay: Server
const sockets = new Set<Socket>()
let isCut = false
let running: GatewayProcess
let apiKey: string
beforeAll(async () => {
  running = await startProcess({
    environment: { LOG_LEVEL: 'fatal' },
    databaseUrl: async url => {
      const target = new URL(url)
      const { hostname, port } = target
      relay = createServer(near => {
        if (isCut) return near.destroy()
        const far = connect(Number(port), hostname)
        for (const socket of [near, far]) {
          sockets.add(socket)
          socket.on('close', () => sockets.delete(socket))
          socket.on('error', () => {})
        }
        near.pipe(far).pipe(near)
      })
      await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
      const address = relay.address()
      target.hostname = '127.0.0.1'
      target.port = String(address !== null && typeof address === 'object' ? address.port : 0)
      return target.href
    },
  })
  apiKey = (await running.account('person@example.com')).apiKey
})
afterAll(async () => {
  await running.close()
  relay.close()
})

function call(key = apiKey) {
  return fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body: GOOD })
}

test('while the database is down a valid key gets 503 and never 401, cached or not, and works again without a restart', async () => {
  const { apiKey: fresh } = await running.account('fresh@example.com')
  expect((await call()).status).toBe(200)
  isCut = true
  for (const socket of sockets) socket.destroy()
  const [known, unknown, list] = await Promise.all([
    call(),
    call(fresh),
    fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': fresh } }),
  ])
  for (const reply of [known, unknown, list]) {
    expect(reply.status).toBe(503)
    expect(reply.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await reply.json()).toMatchObject({ error: { type: 'service_unavailable', code: 'ledger_unavailable' } })
  }
  expect((await fetch(`${running.url}/readyz`)).status).toBe(503)
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
  isCut = false
  await eventually(
    async () => (await call(fresh)).status,
    status => status === 200,
  )
  expect((await call()).status).toBe(200)
  expect(running.isUp()).toBe(true)
})

// Statements of pages time out after 2 s instead of the default 60 s, with which this test would take too long.
test('a page that would wait for a locked or slow table gives up, and meanwhile calls continue', {
  timeout: 50_000,
}, async () => {
  const operator = new Visitor(running.url)
  await operator.signUp('operator@example.com')
  const { sql } = running.database
  await sql`update account set is_operator = true where email = 'operator@example.com'`
  expect((await operator.get('/operator/orders')).status).toBe(200)
  // Holds the lock until the page has answered; if the page waits forever, the test times out.
  await sql.begin(async transaction => {
    await transaction`lock table topup_order in access exclusive mode`
    const pages = await Promise.all(['/operator/orders', '/operator/orders', '/topup'].map(path => operator.get(path)))
    expect(pages.map(({ status }) => status)).toEqual([503, 503, 503])
    expect((await call()).status).toBe(200)
  })
  expect((await operator.get('/operator/orders')).status).toBe(200)
})
