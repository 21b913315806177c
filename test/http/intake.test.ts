/** The gateway reads only a limited part of long bodies per turn of the event loop, even if all of them have arrived. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { BodyPermits } from '../../src/http/body-permits.ts'
import { Lingering } from '../../src/http/lingering.ts'
import { readBody } from '../../src/http/read-body.ts'

const READS_PER_TURN = 64
const CHUNK = Buffer.alloc(64 * 1024, 'x')
const CHUNKS = 40
const BODIES = 20
const BYTES = CHUNKS * CHUNK.length

let reads = 0

/** A request whose body has already arrived in full. */
class ArrivedBody extends Readable {
  readonly headers = { 'content-length': String(BYTES) }
  readonly complete = false
  #left = CHUNKS

  constructor() {
    super({ highWaterMark: CHUNK.length })
  }

  override emit(name: string | symbol, ...values: unknown[]): boolean {
    if (name === 'data') reads++
    return super.emit(name, ...values)
  }

  override _read(): void {
    this.push(this.#left-- > 0 ? CHUNK : null)
  }
}

/** Counts the reads in each turn until `done` resolves. */
async function readsPerTurn(done: Promise<unknown>): Promise<number[]> {
  let isDone = false
  void done.finally(() => {
    isDone = true
  })
  const turns: number[] = []
  while (!isDone) {
    reads = 0
    await turn()
    turns.push(reads)
  }
  return turns
}

function requests(): IncomingMessage[] {
  return Array.from({ length: BODIES }, () => new ArrivedBody() as unknown as IncomingMessage)
}

/**
 * Fails if more was read in a turn than is allowed, or if not everything was read. Each body may exceed the limit by one read,
 * and a turn counted here may overlap two turns of the gateway.
 */
function expectBounded(turns: readonly number[]): void {
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * (READS_PER_TURN + BODIES))
  expect(turns.reduce((sum, value) => sum + value, 0)).toBe(BODIES * CHUNKS)
}

test('bodies that have arrived at once are read over many turns, each of them whole', async () => {
  const bytesMax = BODIES * BYTES
  const permits = new BodyPermits({
    bodyBytesMax: BYTES,
    bodiesBytesMax: bytesMax,
    keyBodiesBytesMax: bytesMax,
    bodiesWaitingMax: 0,
    bodyWaitMs: 1000,
  })
  const bounds = { bytesMax: BYTES, ratioMax: 1, idleMs: 10_000 }
  const reading = Promise.all(requests().map(request => readBody(request, bounds, permits.open(1))))
  expectBounded(await readsPerTurn(reading))
  expect((await reading).map(({ length }) => length)).toEqual(Array(BODIES).fill(BYTES))
})

test('the rest of refused bodies is read to its end, also over many turns', async () => {
  const limits = { lingerMs: 60_000, lingerIdleMs: 60_000, lingerBytesMax: BYTES + 1, lingeringMax: BODIES }
  const lingering = new Lingering(limits)
  const ended = requests().map(request => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const response = { writeHead() {}, write() {}, end: () => resolve() }
    lingering.answer(request, response as unknown as ServerResponse, { status: 402, headers: {}, body: '{}' })
    return promise
  })
  expectBounded(await readsPerTurn(Promise.all(ended)))
})
