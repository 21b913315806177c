/** When a circuit breaker opens, for how long, and how it closes. */

import { beforeEach, expect, test } from 'vitest'
import { Circuit } from '../../src/upstream/circuit.ts'

let nowMs = 0
let circuit: Circuit
beforeEach(() => {
  nowMs = 1000
  circuit = new Circuit({ failures: 3, baseMs: 100, maxMs: 350 }, () => nowMs)
})

function failOnce() {
  circuit.fail(circuit.enter())
}

test('opens after consecutive faults only', () => {
  failOnce()
  failOnce()
  circuit.succeed()
  failOnce()
  failOnce()
  expect([circuit.state, circuit.admits]).toEqual(['closed', true])
  failOnce()
  expect([circuit.state, circuit.admits, circuit.waitMs]).toEqual(['open', false, 100])
})

test('admits one probe at a time when its open time is over, and every call after a success', () => {
  circuit.trip('call')
  nowMs += 100
  expect([circuit.state, circuit.admits]).toEqual(['half_open', true])
  const passage = circuit.enter()
  expect([passage, circuit.admits, circuit.probing]).toEqual([expect.any(Number), false, true])
  expect(circuit.enter()).toBe('call')
  circuit.succeed()
  expect([circuit.state, circuit.admits]).toEqual(['closed', true])
})

test('is closed by a probe that has lasted longer than a failure takes', () => {
  const quick = new Circuit({ failures: 3, baseMs: 100, maxMs: 350 }, () => nowMs, { probeMs: 50 })
  quick.trip('call')
  nowMs += 100
  const passage = quick.enter()
  nowMs += 49
  expect([quick.state, quick.admits, quick.probing]).toEqual(['half_open', false, true])
  nowMs += 1
  expect([quick.state, quick.admits, quick.probing]).toEqual(['closed', true, false])
  quick.fail(passage)
  expect([quick.state, quick.waitMs]).toEqual(['open', 100])
})

test('a probe that ends late says nothing of the one that has followed it', () => {
  const quick = new Circuit({ failures: 3, baseMs: 100, maxMs: 350 }, () => nowMs, { probeMs: 50 })
  quick.trip('call')
  nowMs += 100
  const late = quick.enter()
  nowMs += 50
  expect(quick.state).toBe('closed')
  quick.trip('call')
  quick.trip(late)
  expect(quick.waitMs).toBe(100)
  nowMs += 100
  quick.enter()
  quick.leave(late)
  quick.fail(late)
  expect([quick.state, quick.admits, quick.probing]).toEqual(['half_open', false, true])
})

test('stays open twice as long after each failed probe, up to a limit', () => {
  const waits: number[] = []
  circuit.trip('call')
  for (let trial = 0; trial < 4; trial++) {
    waits.push(circuit.waitMs)
    nowMs += circuit.waitMs
    circuit.fail(circuit.enter())
  }
  expect(waits).toEqual([100, 200, 350, 350])
})

test('is not kept open longer by calls that were already in flight', () => {
  const other = new Circuit({ failures: 1, baseMs: 100, maxMs: 350 }, () => nowMs)
  const underWay = [other.enter(), other.enter()]
  other.fail(underWay[0] as 'call')
  nowMs += 60
  other.fail(underWay[1] as 'call')
  expect(other.waitMs).toBe(40)
})

test('stays open for the requested time, up to its limit', () => {
  circuit.trip('call', 30)
  expect(circuit.waitMs).toBe(30)
  circuit.succeed()
  circuit.trip('call', 9_999_999)
  expect(circuit.waitMs).toBe(350)
})

test('an inconclusive probe makes room for another', () => {
  circuit.trip('call')
  nowMs += 100
  circuit.leave(circuit.enter())
  expect([circuit.state, circuit.admits]).toEqual(['half_open', true])
})

test('keeps counting faults when replies start well and then end early', () => {
  for (let calls = 0; calls < 3; calls++) {
    circuit.recover()
    failOnce()
  }
  expect(circuit.state).toBe('open')
})

test('never opens with a limit of 0', () => {
  const always = new Circuit({ failures: 1, baseMs: 0, maxMs: 0 }, () => nowMs)
  always.fail(always.enter())
  always.trip('call', 5000)
  expect([always.state, always.admits]).toEqual(['closed', true])
})
