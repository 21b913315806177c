/** A lower bound for any proxy: copies bytes between two sockets in both directions, without looking at them. */

import { type AddressInfo, connect, createServer } from 'node:net'
import { serveBench } from './serve-process.ts'

const upstream = new URL(process.env.UPSTREAM_URL as string)
const server = createServer({ noDelay: true }, client => {
  const onward = connect({ host: upstream.hostname, port: Number(upstream.port), noDelay: true })
  const close = () => {
    client.destroy()
    onward.destroy()
  }
  client.on('error', close).on('close', close).pipe(onward).on('error', close).on('close', close).pipe(client)
})
server.listen(0, '127.0.0.1', () => {
  serveBench({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
    },
  })
})
