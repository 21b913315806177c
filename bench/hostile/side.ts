/** Runs the provider and the honest clients in a separate thread, so that the bench itself does not slow them down. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { request } from 'undici'

const usage = { input_tokens: 10, output_tokens: 5 }
const REPLIES: readonly (readonly [end: string, reply: object])[] = [
  [
    '/messages',
    { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn', usage },
  ],
  ['/responses', { object: 'response', status: 'completed', output: [], usage }],
  ['/images/generations', { created: 1, data: [{ b64_json: 'AAAA' }] }],
  [
    '/chat/completions',
    {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  ],
]

const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    const reply = REPLIES.find(([end]) => incoming.url?.endsWith(end))?.[1]
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'x', model: 'x', ...reply }))
  })
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const port = parentPort as NonNullable<typeof parentPort>
port.postMessage({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })

interface Honest {
  readonly url: string
  readonly apiKey: string
}

const CALLERS = 4
const PAUSE_MS = 20
const BODY = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"Xin chào"}]}'
let times: number[] = []
let failures = 0

async function callForEver({ url, apiKey }: Honest): Promise<never> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  for (;;) {
    const start = performance.now()
    try {
      const { statusCode, body } = await request(`${url}/v1/messages`, { method: 'POST', headers, body: BODY })
      await body.dump()
      if (statusCode !== 200) failures++
    } catch {
      failures++
    }
    times.push(performance.now() - start)
    await sleep(PAUSE_MS)
  }
}

port.on('message', (message: Honest | 'read') => {
  if (message !== 'read') {
    for (let index = 0; index < CALLERS; index++) void callForEver(message)
    return
  }
  const sorted = times.sort((left, right) => left - right)
  port.postMessage({ calls: times.length, failures, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0 })
  times = []
  failures = 0
})
