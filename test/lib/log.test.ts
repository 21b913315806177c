import { afterEach, expect, test, vi } from 'vitest'
import { createLog } from '../../src/lib/log.ts'

afterEach(() => vi.useRealTimers())

test('a silent log does nothing, not even on a timer', () => {
  vi.useFakeTimers()
  createLog('silent').fatal('unheard')
  expect(vi.getTimerCount()).toBe(0)
  createLog('fatal')
  expect(vi.getTimerCount()).toBe(1)
  vi.clearAllTimers()
})
