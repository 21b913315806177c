import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startDeadline } from '../../src/lib/deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const late: string[] = []
const target = (name: string) => ({ late: () => void late.push(name) })

test('each deadline fires once, in order, and never after it was cancelled', () => {
  late.length = 0
  const first = startDeadline(100, target('first'))
  vi.advanceTimersByTime(30)
  const second = startDeadline(100, target('second'))
  startDeadline(100, target('third'))
  startDeadline(40, target('short'))
  second.end()
  second.end()
  vi.advanceTimersByTime(69)
  expect(late).toEqual(['short'])
  vi.advanceTimersByTime(1)
  expect(late).toEqual(['short', 'first'])
  first.end()
  vi.advanceTimersByTime(29)
  expect(late).toEqual(['short', 'first'])
  vi.advanceTimersByTime(2)
  expect(late).toEqual(['short', 'first', 'third'])
  vi.advanceTimersByTime(1_000)
  expect(late).toEqual(['short', 'first', 'third'])
})

test('a deadline started when another one fires gets its full time', () => {
  late.length = 0
  startDeadline(50, {
    late() {
      late.push('outer')
      startDeadline(50, target('inner'))
    },
  })
  vi.advanceTimersByTime(50)
  expect(late).toEqual(['outer'])
  vi.advanceTimersByTime(49)
  expect(late).toEqual(['outer'])
  vi.advanceTimersByTime(2)
  expect(late).toEqual(['outer', 'inner'])
})

test('long deadlines are rounded up to a second', () => {
  late.length = 0
  startDeadline(10_200.5, target('long'))
  vi.advanceTimersByTime(10_999)
  expect(late).toEqual([])
  vi.advanceTimersByTime(1)
  expect(late).toEqual(['long'])
})
