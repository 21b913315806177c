/** Stands between a client and the run's Postgres: at another address, behind TLS, or as a pooler that ignores settings. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type ListenOptions, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts'

export interface PostgresProxy {
  readonly port: number
  close(): Promise<void>
}

/** First eight bytes of a client that asks for TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export async function startPostgresProxy(
  url: string,
  options: {
    readonly listen: ListenOptions
    /** What the proxy answers when it is asked for TLS. */
    readonly tls?: boolean
    /** Drops the settings that a client begins its session with, as some poolers do. */
    readonly dropsSettings?: boolean
  },
): Promise<PostgresProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const join = (client: Socket, first: Buffer): void => {
    const server = connect(Number(port), hostname)
    sockets.add(server)
    for (const socket of [client, server]) socket.on('error', () => {})
    server.write(options.dropsSettings ? withoutSettings(first) : first)
    client.pipe(server).pipe(client)
  }
  const proxy = createServer(client => {
    sockets.add(client)
    client.on('error', () => {})
    client.once('data', bytes => {
      const first = bytes as Buffer
      if (!first.equals(SSL_REQUEST)) return join(client, first)
      client.write(options.tls ? 'S' : 'N')
      const secured = options.tls
        ? new TLSSocket(client, { isServer: true, cert: CERTIFICATE, key: CERTIFICATE_KEY })
        : client
      secured.on('error', () => {})
      secured.once('data', startup => join(secured, startup as Buffer))
    })
  })
  proxy.listen(options.listen)
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

/** A client's first message, with nothing but user and database. */
function withoutSettings(first: Buffer): Buffer {
  const words = first.subarray(8, -1).toString('latin1').split('\0')
  const kept = ['user', 'database'].flatMap(name => [name, words[words.indexOf(name) + 1]])
  const text = Buffer.from(`${kept.join('\0')}\0\0`, 'latin1')
  const head = Buffer.from(first.subarray(0, 8))
  head.writeUInt32BE(8 + text.length)
  return Buffer.concat([head, text])
}
