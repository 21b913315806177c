/**
 * A thread that plays both a provider and its clients. The provider starts its replies and then falls silent; the clients wait
 * for the rest. Because both run outside the gateway's thread, tests can measure the memory of the gateway alone.
 */

import { type ClientRequest, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, Worker, workerData } from 'node:worker_threads'

const ROLE = 'both sides of streams'

export interface StreamsToOpen {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What the provider sends before it falls silent. */
  readonly begin: string
  readonly count: number
}

export interface OpenStreams {
  readonly providerUrl: string
  /** Opens streams. Resolves when every client has received the start of its reply; rejects for any status but 200. */
  open(streams: StreamsToOpen): Promise<void>
  close(): Promise<void>
}

export async function startOpenStreams(): Promise<OpenStreams> {
  const worker = new Worker(new URL(import.meta.url), { workerData: ROLE })
  const nextMessage = () => new Promise<string>(resolve => worker.once('message', resolve))
  const providerUrl = await nextMessage()
  return {
    providerUrl,
    async open(streams) {
      const answer = nextMessage()
      worker.postMessage(streams)
      const message = await answer
      if (message !== 'open') throw new Error(message)
    },
    async close() {
      await worker.terminate()
    },
  }
}

function run(main: NonNullable<typeof parentPort>): void {
  let begin = ''
  const kept = new Set<ClientRequest>()
  const provider = createServer((incoming, response) => {
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(begin)
    })
    incoming.resume()
  })
  provider.listen(0, '127.0.0.1', () => {
    main.postMessage(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`)
  })

  const openOne = ({ url, headers, body }: StreamsToOpen): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers }, response => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
        response.once('data', () => resolve())
      })
      sent.on('error', reject)
      sent.end(body)
      kept.add(sent)
    })

  main.on('message', (streams: StreamsToOpen) => {
    begin = streams.begin
    const all = async () => {
      for (let count = 0; count < streams.count; count++) await openOne(streams)
    }
    all().then(
      () => main.postMessage('open'),
      (error: Error) => main.postMessage(error.message),
    )
  })
}

if (workerData === ROLE && parentPort !== null) run(parentPort)
