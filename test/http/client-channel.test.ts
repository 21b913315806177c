/** How often a client's stream is written to its socket. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { ResponseChannel } from '../../src/http/client-channel.ts'
import { encodeText } from '../../src/lib/byte-text.ts'

const EVENT = encodeText('data: {"text":"Hà Nội"}\n\n')

const server = createServer()
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

test('what a stream sends in one turn of the event loop is one write, its chunk’s length included', async () => {
  let writes: unknown[] = []
  server.on('request', async (_, response) => {
    const channel = new ResponseChannel({
      response,
      requestId: 'req_1',
      service: 'svc',
      startedMs: 0,
      nowMs: () => 0,
      namedEvents: false,
      errorSent: () => {},
    })
    const write = vi.spyOn(response.socket as NonNullable<typeof response.socket>, 'write')
    channel.startStream({})
    for (let round = 0; round < 3; round++) {
      for (let event = 0; event < 100; event++) channel.write(EVENT)
      await turn()
    }
    channel.write(EVENT)
    channel.endStream()
    writes = write.mock.calls
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(await reply.text()).toBe('data: {"text":"Hà Nội"}\n\n'.repeat(301))
  // One for each turn, of which the first has the headers too, and one for the last event and the end.
  expect(writes).toHaveLength(4)
})
