/** A provider that answers at once: whole replies of 1 kB, or streams, one event a write, paced or as fast as they go. */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chatStreamText, messagesStreamText } from '../streams.ts'
import { serveRole } from './role.ts'

/** How streams are sent: `pauseMs` between events, or 0 for all that the socket takes. */
interface Pace {
  readonly events: number
  readonly pauseMs: number
}

let pace: Pace = { events: 200, pauseMs: 0 }
let streams = makeStreams(pace)

const FILLER = 'The quick brown fox jumps over the lazy dog. '.repeat(17)
const USAGE = { prompt_tokens: 200, completion_tokens: 180, total_tokens: 380 }
const CHAT = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content: FILLER }, logprobs: null, finish_reason: 'stop' }],
    usage: USAGE,
  }),
)
const MESSAGE = Buffer.from(
  JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model',
    content: [{ type: 'text', text: FILLER }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 200, output_tokens: 180 },
  }),
)

/** Streams as pieces to write: one event each, or for a burst as many as a socket hands over at once. */
function makeStreams({ events, pauseMs }: Pace): { chat: Buffer[]; messages: Buffer[] } {
  const eventsPerWrite = pauseMs > 0 ? 1 : 64
  const cut = (text: string) => {
    const frames = text.split(/(?<=\n\n)/).map(httpChunk)
    const writes = Math.ceil(frames.length / eventsPerWrite)
    return Array.from({ length: writes }, (_, index) =>
      Buffer.concat(frames.slice(index * eventsPerWrite, (index + 1) * eventsPerWrite)),
    )
  }
  return { chat: cut(chatStreamText('text', events)), messages: cut(messagesStreamText('text', events)) }
}

/** Providers flush each event: it is an HTTP chunk of its own, which Node would put together with its neighbours. */
function httpChunk(event: string): Buffer {
  const bytes = Buffer.from(event)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

async function sendStream(response: ServerResponse, writes: readonly Buffer[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })
  response.flushHeaders()
  const { socket } = response
  for (const frames of writes) {
    if (socket === null || socket.destroyed) return
    const taken = socket.write(frames)
    if (pace.pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pace.pauseMs))
    else if (!taken) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
  response.end()
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let streamed = false
  request.on('data', (chunk: Buffer) => {
    streamed ||= chunk.includes('"stream":true')
  })
  request.on('end', () => {
    const isChat = request.url?.includes('chat') === true
    if (streamed) return void sendStream(response, isChat ? streams.chat : streams.messages)
    const body = isChat ? CHAT : MESSAGE
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  serveRole({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told(message) {
      pace = message as Pace
      streams = makeStreams(pace)
    },
    async stop() {
      server.closeAllConnections()
      server.close()
    },
  })
})
