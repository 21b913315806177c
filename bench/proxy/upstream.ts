/**
 * Fallback for `native/upstream.c`, for machines without a C compiler: a provider that writes prepared replies to plain
 * sockets, segment by segment. It parses only the path and the length of a request. Both read replies from the same files.
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Reply, repliesOf } from './replies.ts'
import { serveBench } from './serve-process.ts'

let replies: readonly Reply[] = []
let lastPath = ''

async function send(socket: Socket, { segments, pauseMs }: Reply): Promise<void> {
  for (const [index, bytes] of segments.entries()) {
    if (socket.destroyed) return
    const taken = socket.write(bytes)
    if (index === segments.length - 1) return
    if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
    else if (!taken) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
}

function sendReply(socket: Socket): void {
  const reply = replies.find(({ path }) => path === lastPath)
  if (reply === undefined) socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  else void send(socket, reply)
}

function serve(socket: Socket): void {
  let head = ''
  let left = 0
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    if (left === 0) {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      lastPath = /^\S+ ([^ ?]+)/.exec(head)?.[1] ?? ''
      left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (head.length - end - 4)
      head = ''
    } else left -= chunk.length
    if (left === 0) sendReply(socket)
  })
}

const sockets = new Set<Socket>()
const server = createServer(socket => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  serve(socket)
})
server.listen(0, '127.0.0.1', () => {
  serveBench({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onMessage(file) {
      if (typeof file === 'string') replies = repliesOf(readFileSync(file))
      return lastPath
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
})
