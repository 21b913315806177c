/** Collections of calls in flight: they behave like a Map, and keep nothing alive that has left them. */

import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { TransientMap, TransientSet } from '../../src/lib/transient.ts'

test('a map behaves like a Map, however much is deleted', async () => {
  const map = new TransientMap<string, number>()
  const model = new Map<string, number>()
  for (let call = 0; call < 5_000; call++) {
    map.set(`call ${call}`, call)
    model.set(`call ${call}`, call)
    if (call >= 20) expect(map.delete(`call ${call - 20}`)).toBe(model.delete(`call ${call - 20}`))
    expect(map.delete('call -1')).toBe(false)
    if (call % 100 > 0) continue
    await null
    expect([...map]).toEqual([...model])
    expect([map.size, map.get(`call ${call}`), map.has('call -1')]).toEqual([model.size, call, false])
  }
})

test('whoever deletes while iterating meets no entry that has left', async () => {
  const set = new TransientSet<number>()
  for (let number = 0; number < 3_000; number++) set.add(number)
  const met: number[] = []
  for (const number of set) {
    met.push(number)
    set.delete(number + 1)
    set.delete(number)
  }
  await null
  expect(met).toEqual(Array.from({ length: 1_500 }, (_, index) => 2 * index))
  expect([set.size, ...set]).toEqual([0])
})

const source = (name: string) => JSON.stringify(pathToFileURL(`src/lib/${name}.ts`).href)

/**
 * Runs 40,000 calls of 1 kB, 64 of them in flight, in a process of its own, which collects only young objects. Before, it lets
 * what is in flight become old. Returns how many bytes more are then in use.
 */
function bytesKept(begin: string, end: string): number {
  const code = `
    const { TransientMap, TransientSet } = await import(${source('transient')})
    const { startDeadline } = await import(${source('deadlines')})
    const map = new TransientMap(), set = new TransientSet(), plain = new Map(), inFlight = []
    let call = 0
    async function run(calls) {
      for (const last = call + calls; call < last; call++) {
        const id = 'call ' + call, state = { late() {}, figures: Array.from({ length: 125 }, (_, index) => call + index) }
        inFlight.push({ id, state, deadline: ${begin} })
        if (inFlight.length > 64) { const { id, state, deadline } = inFlight.shift(); ${end} }
        if (call % 50 === 0) await null
        if (call % 1_000 === 0) gc({ type: 'minor' })
      }
    }
    await run(64)
    for (let turn = 0; turn < 4; turn++) gc({ type: 'minor' })
    const before = process.memoryUsage().heapUsed
    await run(40_000)
    gc({ type: 'minor' })
    console.log(process.memoryUsage().heapUsed - before)
    process.exit()`
  // The young generation must never be collected for lack of room.
  const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64', '--input-type=module', '--eval']
  return Number(execFileSync(process.execPath, [...flags, code], { encoding: 'utf8' }))
}

test.each([
  ['a map', 'map.set(id, state)', 'map.delete(id)'],
  ['a set', 'set.add(state)', 'set.delete(state)'],
  ['a deadline', 'startDeadline(60_000, state)', 'deadline.end()'],
])('calls that have left %s are collected with the young objects', (_, begin, end) => {
  expect(bytesKept(begin, end)).toBeLessThan(8_000_000)
})

test('V8 still keeps calls that have left a Map, which is why there are others', () => {
  expect(bytesKept('plain.set(id, state)', 'plain.delete(id)')).toBeGreaterThan(20_000_000)
})
