/** Clients: as many calls at once as asked for, each followed by the next, for a time. */

import { Pool } from 'undici'

export interface Target {
  readonly url: string
  readonly path: string
  readonly body: Buffer
  readonly apiKey: string
}

export interface Load {
  /** Calls that finished. */
  calls: number
  /** Server-sent events that arrived. */
  events: number
}

export interface LoadOptions {
  readonly concurrency: number
  readonly milliseconds: number
}

/** Runs until the time is over and every call has ended. Throws at a reply that is not 200 or does not end well. */
export async function drive(pool: Pool, target: Target, { concurrency, milliseconds }: LoadOptions): Promise<Load> {
  const load: Load = { calls: 0, events: 0 }
  const until = performance.now() + milliseconds
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < until) await oneCall(pool, target, load)
    }),
  )
  return load
}

async function oneCall(pool: Pool, { path, body, apiKey }: Target, load: Load): Promise<void> {
  const reply = await pool.request({
    method: 'POST',
    path,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body,
  })
  let text = ''
  let last = 0
  const isStream = String(reply.headers['content-type']).startsWith('text/event-stream')
  for await (const chunk of reply.body as AsyncIterable<Buffer>) {
    if (isStream) {
      // A line feed pair ends an event; a pair that is cut between chunks is found by the byte before.
      for (const byte of chunk) {
        if (byte === 10 && last === 10) load.events++
        last = byte
      }
      text = chunk.toString('latin1')
    } else if (reply.statusCode !== 200) text += chunk.toString('latin1')
  }
  if (reply.statusCode !== 200) throw new Error(`status ${reply.statusCode}: ${text.slice(0, 300)}`)
  if (isStream && !/message_stop|\[DONE\]/.test(text)) throw new Error(`a stream broke off: ${text.slice(-300)}`)
  load.calls++
}

export function openPool(url: string): Pool {
  return new Pool(url, { connections: 1024, headersTimeout: 60_000, bodyTimeout: 60_000 })
}
