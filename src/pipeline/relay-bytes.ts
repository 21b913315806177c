/** Relays a binary reply as it arrives, at the pace of the slower side, and ends it only after the call has been settled. */

import { GatewayError } from '../errors.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import type { ClientChannel, HeaderMap } from './call.ts'
import { dropReader, isUnread, type StreamEnd } from './relay-stream.ts'

export interface ByteRelay {
  readonly upstream: UpstreamReply
  readonly client: ClientChannel
  /** Must include `content-type`. */
  readonly headers: HeaderMap
  readonly bytesMax: number
  readonly settle: (end: StreamEnd) => Promise<unknown>
}

/** Resolves when the reply has been sent or the client has left. Rejects with GatewayError if the upstream's reply ends early. */
export function relayBytes(relay: ByteRelay): Promise<StreamEnd> {
  const { upstream, client, headers, bytesMax, settle } = relay
  return new Promise((resolve, reject) => {
    let ended = false
    let bytes = 0
    const close = () => {
      ended = true
      client.gone.removeEventListener('abort', abandon)
    }
    const fail = (cause: unknown) => {
      if (ended) return
      close()
      upstream.abort()
      if (isUnread(cause)) return void dropReader(relay).then(() => resolve('abandoned'), reject)
      reject(new GatewayError('upstream_failed', { message: "The model's reply ended early.", cause }))
    }
    const abandon = () => {
      if (ended) return
      close()
      upstream.abort()
      settle('abandoned').then(() => resolve('abandoned'), reject)
    }
    client.onDrain(() => {
      if (!ended) upstream.resume()
    })
    if (client.gone.aborted) return abandon()
    client.gone.addEventListener('abort', abandon)
    upstream.consume({
      data: chunk => {
        if (ended || chunk.length === 0) return
        bytes += chunk.length
        if (bytes > bytesMax) return fail(new UpstreamFault('oversized', `the reply exceeds ${bytesMax} bytes`))
        if (!client.started) client.startBytes(headers)
        if (!client.writeBytes(chunk)) upstream.pause()
      },
      end: () => {
        if (ended) return
        if (bytes === 0) return fail('the reply is empty')
        close()
        settle('complete').then(() => {
          client.endStream()
          resolve('complete')
        }, reject)
      },
      error: fail,
    })
  })
}
