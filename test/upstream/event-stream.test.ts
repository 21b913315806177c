/** AWS's binary event stream, decoded from chunks of any size. */

import { expect, test, vi } from 'vitest'
import { chunkFrame } from '../../src/sandbox/bedrock/frames.ts'
import { EventStreamDecoder } from '../../src/upstream/aws/event-stream.ts'

const DELTA = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(200_000) } }
const PING = { type: 'ping' }
const FRAMES = Buffer.concat([DELTA, PING, DELTA, PING].map(chunkFrame))
const EVENTS = [DELTA, PING, DELTA, PING]
  .map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('')

function decoded(chunkBytes: number): string {
  const decoder = new EventStreamDecoder({ frameBytesMax: 1_000_000 })
  let text = ''
  for (let at = 0; at < FRAMES.length; at += chunkBytes) text += decoder.push(FRAMES.subarray(at, at + chunkBytes))
  decoder.end()
  return text
}

test.each([1, 11, 12, 13, 1_000, 1_000_000])('frames in chunks of %i bytes give the same events', chunkBytes => {
  expect(decoded(chunkBytes)).toBe(EVENTS)
})

test('a long frame in small chunks is copied a few times only', () => {
  const concat = vi.spyOn(Buffer, 'concat')
  expect(decoded(64)).toBe(EVENTS)
  const copied = concat.mock.results.reduce((sum, { value }) => sum + value.length, 0)
  concat.mockRestore()
  expect(copied).toBeLessThan(5 * FRAMES.length)
})
