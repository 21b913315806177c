/**
 * A server's connections, and how to close them without losing a call: stop listening first, say `connection: close` in each
 * reply, and keep idle connections open for a moment, in case a call is already on its way. Also closes connections whose client
 * does not read the end of its reply, or sends many requests ahead of their replies (pipelining), and keeps those open on which it
 * only waits for its reply (half-closed).
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, Socket } from 'node:net'

/** A socket with Node's internal reference to the response being sent on it. */
interface BusySocket extends Socket {
  readonly _httpMessage?: ServerResponse | null
  /** What Node calls with each request. Any result but 0, 1 or 2 makes its parser stop with the error PIPELINED. */
  readonly parser?: { onIncoming: () => number } | null
}

/** A response for which a client that ends its side of the connection has left; see `endsWithClient`. */
interface Ending extends ServerResponse {
  endsWithClient?: true
}

/**
 * Call at the beginning of a call. A client that ends its side of the connection (half-close) may still wait for its reply, as some
 * health checks and simple programs do, but most have left, and nothing tells which. A call would go on for them at somebody's cost,
 * so it ends. All other replies are sent.
 */
export function endsWithClient(response: Ending): void {
  response.endsWithClient = true
}

/** Replaces `end` of a server's sockets, which Node calls without arguments when the client has ended its side. */
function endWhenReplied(this: BusySocket, ...given: Parameters<Socket['end']>): Socket {
  const response: Ending | null | undefined = this._httpMessage
  if (given.length > 0 || !this.readableEnded || response == null || response.endsWithClient) {
    return Socket.prototype.end.apply(this, given)
  }
  response.once('finish', () => this.end())
  return this
}

/** Maximum number of requests on one connection that wait for the replies to earlier ones. */
const PIPELINED_MAX = 16
/** From this number on, closed connections are removed whenever all have doubled. */
const SWEPT_FROM = 64
/** Code of the parser's error on a connection with more requests than that. The replies under way will close it. */
export const PIPELINED = 'HPE_CB_HEADERS_COMPLETE'

export class Connections {
  readonly #server: Server
  /**
   * All open connections, and some that have been closed. We do not listen for `close` of a socket: with a listener besides
   * Node's own, most of what its requests leave behind is moved to V8's old generation (Node 26; 7 kB of a call instead of 0.6).
   */
  #sockets = new Set<BusySocket>()
  /** Size of `#sockets` from which closed ones are removed. */
  #sweptFrom = SWEPT_FROM
  /** By connection, how many of its requests wait for the replies to earlier ones. */
  readonly #pipelined = new WeakMap<Socket, number>()
  #ending: Promise<void> | null = null

  /** `unreadMs`: how long a client may read nothing of a reply that has been written to its end. */
  constructor(server: Server, { unreadMs }: { readonly unreadMs: number }) {
    this.#server = server
    const watch = setInterval(() => this.#limitUnread(unreadMs), Math.ceil(unreadMs / 4)).unref()
    server.on('close', () => clearInterval(watch))
    server.on('connection', (socket: BusySocket) => {
      socket.end = endWhenReplied as Socket['end']
      this.#sockets.add(socket)
      if (this.#sockets.size >= this.#sweptFrom) this.#sweep()
    })
    for (const event of ['request', 'checkExpectation'] as const) server.prependListener(event, this.#onRequest)
  }

  /** Forgets closed connections. */
  #sweep(): void {
    this.#sockets = new Set([...this.#sockets].filter(({ destroyed }) => !destroyed))
    this.#sweptFrom = Math.max(SWEPT_FROM, 2 * this.#sockets.size)
  }

  /** Once the server is closing, makes each request the last one on its connection. */
  readonly #onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    if ((socket as BusySocket)._httpMessage !== response) this.#limitPipelined(socket, response)
    if (this.#ending === null) return
    response.shouldKeepAlive = false
    socket.setTimeout(0)
  }

  /**
   * Thousands of requests fit into one read of a socket, and Node would begin all of them in one turn of the event loop. So the
   * connection is closed after the last one that may wait; the client sends those without a reply again (RFC 9112, 9.3.2).
   */
  #limitPipelined(socket: BusySocket, response: ServerResponse): void {
    const waiting = (this.#pipelined.get(socket) ?? 0) + 1
    this.#pipelined.set(socket, waiting)
    response.once('close', () => this.#pipelined.set(socket, (this.#pipelined.get(socket) as number) - 1))
    if (waiting < PIPELINED_MAX) return
    response.shouldKeepAlive = false
    if (socket.parser) socket.parser.onIncoming = () => -1
  }

  /**
   * Stops listening and resolves when the last connection is gone. Idle connections are closed after `idleMs`; call again to
   * shorten that.
   */
  end(idleMs: number): Promise<void> {
    // Node's own `close` of an HTTP server would cut idle connections at once.
    this.#ending ??= new Promise(resolve => void NetServer.prototype.close.call(this.#server, () => resolve()))
    this.#letIdle(Math.max(1, idleMs))
    return this.#ending
  }

  /** Node limits the silence of a client that sends, but not that of one that reads. Its call has ended, so nothing else does. */
  #limitUnread(unreadMs: number): void {
    this.#sweep()
    for (const socket of this.#sockets) {
      const response = socket._httpMessage
      if (!response?.writableEnded || socket.writableLength === 0 || socket.timeout) continue
      // Starts again whenever the client reads. Without a listener for `timeout`, Node destroys the socket.
      socket.setTimeout(unreadMs)
      response.prependOnceListener('finish', () => socket.setTimeout(0))
    }
  }

  #letIdle(idleMs: number): void {
    // Node applies this timeout to connections that become idle later, even if their current reply has already begun.
    this.#server.keepAliveTimeout = idleMs
    this.#server.keepAliveTimeoutBuffer = 0
    this.#sweep()
    for (const socket of this.#sockets) {
      const response = socket._httpMessage
      if (response == null) socket.setTimeout(idleMs)
      else if (!response.headersSent) response.shouldKeepAlive = false
    }
  }
}
