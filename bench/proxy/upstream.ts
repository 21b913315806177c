/**
 * A provider on plain sockets that answers at once: whole replies of 1 kB, or streams, one event a write when paced, or many
 * at once in a burst. Which of them is told before; of a request only its end is looked for.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { chatStreamText, messagesStreamText } from '../streams.ts'
import { serveRole } from './role.ts'

/** How calls are answered. */
export interface Pace {
  readonly streamed: boolean
  readonly events: number
  /** Between two events; 0: all that the socket takes; null: the stream stays open after its first events. */
  readonly pauseMs: number | null
}

/** Events that a burst hands to the socket at once. */
const BURST = 64

let pace: Pace = { streamed: false, events: 1, pauseMs: 0 }
let streams = makeStreams(pace)

const FILLER = 'The quick brown fox jumps over the lazy dog. '.repeat(17)
const CHAT = whole({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content: FILLER }, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 200, completion_tokens: 180, total_tokens: 380 },
})
const MESSAGE = whole({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  content: [{ type: 'text', text: FILLER }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 200, output_tokens: 180 },
})
const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n',
)
const STREAM_END = Buffer.from('0\r\n\r\n')

function whole(reply: object): Buffer {
  const body = JSON.stringify(reply)
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: keep-alive\r\n\r\n${body}`,
  )
}

/** Streams as pieces to write. Providers flush each event, so each is an HTTP chunk of its own. */
function makeStreams({ events, pauseMs }: Pace): { chat: Buffer[]; messages: Buffer[] } {
  const perWrite = pauseMs === 0 ? BURST : 1
  const cut = (text: string) => {
    const frames = text.split(/(?<=\n\n)/).map(httpChunk)
    return Array.from({ length: Math.ceil(frames.length / perWrite) }, (_, index) =>
      Buffer.concat(frames.slice(index * perWrite, (index + 1) * perWrite)),
    )
  }
  return { chat: cut(chatStreamText('text', events)), messages: cut(messagesStreamText('text', events)) }
}

function httpChunk(event: string): Buffer {
  const bytes = Buffer.from(event)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

async function sendStream(socket: Socket, writes: readonly Buffer[]): Promise<void> {
  socket.write(STREAM_HEAD)
  const { pauseMs } = pace
  for (const [index, frames] of writes.entries()) {
    if (socket.destroyed) return
    const taken = socket.write(frames)
    if (pauseMs === null && index === 3) return
    if (pauseMs) await new Promise(resolve => setTimeout(resolve, pauseMs))
    else if (!taken) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
  socket.write(STREAM_END)
}

function answer(socket: Socket, isChat: boolean): void {
  if (pace.streamed) void sendStream(socket, isChat ? streams.chat : streams.messages)
  else socket.write(isChat ? CHAT : MESSAGE)
}

function serve(socket: Socket): void {
  let head = ''
  let left = 0
  let isChat = false
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    if (left === 0) {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const bodyBytes = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      isChat = head.startsWith('POST /v1/chat')
      left = bodyBytes - (head.length - end - 4)
      head = ''
    } else left -= chunk.length
    if (left === 0) answer(socket, isChat)
  })
}

const sockets = new Set<Socket>()
const server = createServer(socket => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  serve(socket)
})
server.listen(0, '127.0.0.1', () => {
  serveRole({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told(message) {
      pace = message as Pace
      streams = makeStreams(pace)
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
})
