/** How connections end at shutdown: closing them never breaks a call in flight. */

import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Connections } from '../../src/http/connections.ts'

const LONG_MS = 600_000
/** More than the kernel buffers for a client that reads nothing. */
const LARGE = Buffer.alloc(32 * 2 ** 20)

let server: Server
let sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  server.closeAllConnections()
})

/** A server that finishes `/slow` and `/begun` on demand, and answers everything else at once. */
async function start({ unreadMs = LONG_MS } = {}) {
  const slow: ServerResponse[] = []
  server = createServer((request, response) => {
    if (request.url === '/begun') {
      response.write('first ')
      slow.push(response)
    } else if (request.url === '/slow') slow.push(response)
    else if (request.url === '/large') response.end(LARGE)
    else response.end('ok')
  })
  const connections = new Connections(server, { unreadMs })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { connections, slow, port: (server.address() as AddressInfo).port }
}

/** Opens a connection; `seen` has the text received and whether the connection was closed. */
async function client(port: number) {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  const seen = { text: '', closed: false }
  socket.on('data', data => {
    seen.text += data
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    seen.closed = true
  })
  await new Promise<void>(resolve => socket.on('connect', () => resolve()))
  return {
    seen,
    pause: () => void socket.pause(),
    ask: (path: string) => void socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`),
    has: (text: string) => expect.poll(() => seen.text).toContain(text),
    isClosed: () => expect.poll(() => seen.closed).toBe(true),
  }
}

test('an idle connection is served once more, with connection: close, and then closed', async () => {
  const { connections, port } = await start()
  const [used, fresh] = [await client(port), await client(port)]
  used.ask('/')
  await used.has('ok')
  expect(used.seen.text).toMatch(/connection: keep-alive/i)
  const ended = connections.end(LONG_MS)
  used.seen.text = ''
  used.ask('/')
  fresh.ask('/')
  for (const each of [used, fresh]) {
    await each.has('ok')
    expect(each.seen.text).toMatch(/connection: close/i)
    await each.isClosed()
  }
  await ended
})

test('a call in flight is completed, whether or not its reply had started', async () => {
  const { connections, port, slow } = await start()
  const [begun, waiting] = [await client(port), await client(port)]
  begun.ask('/begun')
  await begun.has('first')
  waiting.ask('/slow')
  await expect.poll(() => slow.length).toBe(2)
  const ended = connections.end(50)
  for (const response of slow) response.end('last')
  await begun.has('last')
  await waiting.has('last')
  expect(waiting.seen.text).toMatch(/connection: close/i)
  await begun.isClosed()
  await ended
})

test('idle connections are closed after the grace period, and sooner after a second signal', async () => {
  const { connections, port } = await start()
  const idle = await client(port)
  const ended = connections.end(LONG_MS)
  void connections.end(1)
  await idle.isClosed()
  await ended
})

test('a reply that its client does not read is dropped once it is finished, also behind another reply', async () => {
  const { port, slow } = await start({ unreadMs: 200 })
  const [reading, alone, behind] = [await client(port), await client(port), await client(port)]
  reading.ask('/slow')
  await expect.poll(() => slow.length).toBe(1)
  for (const each of [alone, behind]) each.pause()
  alone.ask('/large')
  behind.ask('/slow')
  behind.ask('/large')
  await expect.poll(open).toBe(2)
  slow[1]?.end('ok')
  await expect.poll(open).toBe(1)
  slow[0]?.end('ok')
  await reading.has('ok')
})

/** Number of connections at the server. */
function open(): Promise<number> {
  return new Promise(resolve => server.getConnections((_error, count) => resolve(count)))
}

test('no listener of ours waits for a socket to close, because V8 would then keep what its requests leave behind', async () => {
  const { port } = await start()
  const plain = createServer()
  await new Promise<void>(resolve => plain.listen(0, '127.0.0.1', resolve))
  const counts: number[] = []
  for (const each of [server, plain]) each.on('connection', socket => counts.push(socket.listenerCount('close')))
  await client(port)
  await client((plain.address() as AddressInfo).port)
  await expect.poll(() => counts.length).toBe(2)
  expect(counts[0]).toBe(counts[1])
  plain.close()
  plain.closeAllConnections()
})

test('after hundreds of connections that have closed, the open ones are still closed at the end', async () => {
  const { connections, port } = await start()
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 50 }, () => client(port)))
    for (const socket of sockets) socket.destroy()
    sockets = []
    const open = () => new Promise(resolve => server.getConnections((_, count) => resolve(count)))
    await expect.poll(open).toBe(0)
  }
  const { isClosed } = await client(port)
  await connections.end(20)
  await isClosed()
})
