/** Requests that arrive together share the event loop with all others, also those that need no key. */

import { Agent, request, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestGateway, TEST_BANK, type TestGateway } from '../support/gateway.ts'

const TOGETHER = 40

let running: TestGateway
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  const environment = { ...TEST_BANK, CASSO_CHECKSUM_KEY: 'not the secret of anybody' }
  running = await startTestGateway({ environment })
})
afterAll(async () => {
  agent.destroy()
  await running.close()
})

interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function send({ method, path, headers, body }: Sent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(running.url + path, { method, headers, agent }, async response => {
      await text(response)
      resolve(response.statusCode)
    })
    sending.on('error', reject).end(body)
  })
}

/** Sends the request on all connections at once. Returns the statuses, and how many replies began in each turn of the loop. */
async function sendTogether(sent: Sent): Promise<{ statuses: readonly unknown[]; perTurn: readonly number[] }> {
  const perTurn = [0]
  const { writeHead } = ServerResponse.prototype
  const replies = vi.spyOn(ServerResponse.prototype, 'writeHead').mockImplementation(function (
    this: ServerResponse,
    ...head
  ) {
    perTurn[perTurn.length - 1]!++
    return writeHead.apply(this, head)
  })
  let isDone = false
  const nextTurn = () => setImmediate(() => perTurn.push(0) && !isDone && nextTurn())
  nextTurn()
  const statuses = await Promise.all(Array.from({ length: TOGETHER }, () => send(sent)))
  replies.mockRestore()
  isDone = true
  return { statuses, perTurn }
}

const page = { method: 'GET', headers: { accept: 'text/html' }, body: '' } as const
test.each([
  ['pages', { ...page, path: '/models?q=claude+opsu' }, 200],
  ['documents', { ...page, path: '/openapi.json' }, 200],
  ['pages that do not exist', { ...page, path: '/nothing' }, 404],
  ['bank notifications', { method: 'POST', path: '/webhooks/bank/casso', headers: {}, body: '{"data":{}}' }, 401],
] as const)(
  '%s that are requested together are answered over many turns of the event loop',
  async (_, sent, status) => {
    // Opens the connections and loads the templates.
    await sendTogether(sent)
    // Each piece of work seems to take longer than a turn may.
    let nowMs = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10))
    const { statuses, perTurn } = await sendTogether(sent)
    clock.mockRestore()
    expect(statuses).toEqual(Array(TOGETHER).fill(status))
    expect(perTurn.reduce((sum, begun) => sum + begun)).toBe(TOGETHER)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2)
  },
)
