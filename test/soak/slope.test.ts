/** The soak's analysis finds planted leaks, and no others. */

import { expect, test } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { judgeSeries, type Point, type Series, since } from './slope.ts'

const MINUTE_MS = 60_000
const random = seededRandom(7)

/** A point every 15 s. `valueAt` returns the value at a time in minutes. */
function points(minutes: number, valueAt: (minute: number) => number, fromMinute = 0): Point[] {
  return Array.from({ length: minutes * 4 }, (_, index) => {
    const minute = fromMinute + index / 4
    return { atMs: minute * MINUTE_MS, value: valueAt(minute) }
  })
}

function memory(...segments: (readonly Point[])[]): Series {
  return { name: 'memory', unit: 'MB', segments, perHour: 0.1, floor: 24 }
}

const noise = (most: number) => random(2 * most + 1) - most
/** Memory that grows for nine minutes and is collected in the tenth. */
const sawtooth = (minute: number) => 180 + (minute % 10) * 4 + noise(6)

test.each<[string, Series]>([
  ['noise', memory(points(60, () => 180 + noise(20)))],
  ['a sawtooth', memory(points(60, sawtooth))],
  ['a peak', memory(points(60, minute => (minute > 40 && minute < 50 ? 400 : 180) + noise(6)))],
  ['a fall', memory(points(60, minute => 300 - minute + noise(6)))],
  ['growth that is too small to matter', memory(points(60, minute => 20 + minute / 4))],
  ['runs that begin higher and higher for another reason', memory(...runs((run, _minute) => 100 + 20 * run))],
])('%s is flat', (_name, series) => {
  expect(judgeSeries(series)).toMatchObject({ verdict: 'flat' })
})

test.each<[string, Series]>([
  ['in noise', memory(points(60, minute => 180 + minute + noise(20)))],
  ['below a sawtooth', memory(points(60, minute => sawtooth(minute) + minute))],
  ['that a replacement hides', memory(...runs((_run, minute) => 150 + 3 * minute + noise(10)))],
])('a leak %s is found', (_name, series) => {
  const judged = judgeSeries(series)
  expect(judged).toMatchObject({ verdict: 'grows' })
  expect(judged.growth).toBeGreaterThan(judged.allowed)
})

/** Points for six processes in succession, 15 minutes each. `valueAt` gets the process's index and its age in minutes. */
function runs(valueAt: (run: number, minute: number) => number): Point[][] {
  return Array.from({ length: 6 }, (_, run) => points(15, minute => valueAt(run, minute - run * 15), run * 15))
}

test('what grows only while it warms up is flat in the second half', () => {
  const series = memory(points(60, minute => 250 - 150 * Math.exp(-minute / 6) + noise(6)))
  expect(judgeSeries(since(series, 30 * MINUTE_MS))).toMatchObject({ verdict: 'flat', points: 120 })
})

test('too few points prove nothing', () => {
  expect(judgeSeries(memory(points(1, () => 1)))).toMatchObject({ verdict: 'few', points: 0 })
})
