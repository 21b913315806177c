/** When a place is put aside, for how long, and how it comes back. */

import { beforeEach, expect, test } from 'vitest'
import { Health } from '../../src/upstream/health.ts'

let nowMs = 0
let health: Health
beforeEach(() => {
  nowMs = 1000
  health = new Health({ failures: 3, baseMs: 100, maxMs: 350 }, () => nowMs)
})

function failOnce() {
  health.fail(health.enter())
}

test('is put aside by faults in a row only', () => {
  failOnce()
  failOnce()
  health.succeed()
  failOnce()
  failOnce()
  expect([health.state, health.open]).toEqual(['well', true])
  failOnce()
  expect([health.state, health.open, health.waitMs]).toEqual(['aside', false, 100])
})

test('lets one call at a time try it when its time is over, and takes all after a success', () => {
  health.putAside('call')
  nowMs += 100
  expect([health.state, health.open]).toEqual(['on_trial', true])
  const visit = health.enter()
  expect([visit, health.open, health.tried]).toEqual(['trial', false, true])
  expect(health.enter()).toBe('call')
  health.succeed()
  expect([health.state, health.open]).toEqual(['well', true])
})

test('stays aside twice as long after each trial that fails, up to a limit', () => {
  const waits: number[] = []
  health.putAside('call')
  for (let trial = 0; trial < 4; trial++) {
    waits.push(health.waitMs)
    nowMs += health.waitMs
    health.fail(health.enter())
  }
  expect(waits).toEqual([100, 200, 350, 350])
})

test('is not kept aside longer by calls that were under way already', () => {
  const other = new Health({ failures: 1, baseMs: 100, maxMs: 350 }, () => nowMs)
  const underWay = [other.enter(), other.enter()]
  other.fail(underWay[0] as 'call')
  nowMs += 60
  other.fail(underWay[1] as 'call')
  expect(other.waitMs).toBe(40)
})

test('takes the time that is asked for, up to its limit', () => {
  health.putAside('call', 30)
  expect(health.waitMs).toBe(30)
  health.succeed()
  health.putAside('call', 9_999_999)
  expect(health.waitMs).toBe(350)
})

test('a trial that tells nothing leaves room for another', () => {
  health.putAside('call')
  nowMs += 100
  health.leave(health.enter())
  expect([health.state, health.open]).toEqual(['on_trial', true])
})

test('goes on counting faults when answers begin well and break off', () => {
  for (let calls = 0; calls < 3; calls++) {
    health.recover()
    failOnce()
  }
  expect(health.state).toBe('aside')
})

test('is never put aside under a limit of 0', () => {
  const always = new Health({ failures: 1, baseMs: 0, maxMs: 0 }, () => nowMs)
  always.fail(always.enter())
  always.putAside('call', 5000)
  expect([always.state, always.open]).toEqual(['well', true])
})
