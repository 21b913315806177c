import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { type Connection, Connections } from '../../src/upstream/connections.ts'

test('a released connection is reused before a new one is made, even after it was lost', async () => {
  let made = 0
  const server = createServer((request, response) => {
    if (request.url === '/lost') request.socket.destroy()
    else response.end('fine')
  })
  server.on('connection', () => made++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connections = new Connections(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    pipelining: 1,
    connectionsMax: 2,
  })
  const ask = async ({ client }: Connection, path: string) =>
    (await client.request({ method: 'GET', path })).body.text()

  const first = connections.take()
  const second = connections.take()
  expect(second).not.toBe(first)
  await ask(first, '/')
  await ask(second, '/')
  connections.release(first)
  connections.release(second)
  expect(connections.take()).toBe(second)
  await ask(second, '/')
  expect(made).toBe(2)

  await expect(ask(second, '/lost')).rejects.toThrow()
  connections.release(second)
  expect(await ask(connections.take(), '/')).toBe('fine')
  expect(made).toBe(3)

  // All connections that the limit allows are in use, so a call has to share one with another call.
  expect(connections.take()).toBe(first)
  const shared = connections.take()
  expect([first, second]).toContain(shared)
  connections.release(shared)
  expect([first, second]).toContain(connections.take())

  await connections.destroy()
  await expect(ask(first, '/')).rejects.toThrow()
  server.close()
})
