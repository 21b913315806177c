import { expect, test } from 'vitest'
import { Canceller, NEVER_CANCELLED, signalOf } from '../../src/lib/cancellation.ts'

test('calls each listener once, and never those that were removed', () => {
  const canceller = new Canceller()
  const told: string[] = []
  const twice = () => void told.push('twice')
  const left = () => void told.push('left')
  canceller.addEventListener('abort', twice)
  canceller.addEventListener('abort', twice)
  canceller.addEventListener('abort', left)
  canceller.removeEventListener('abort', left)
  canceller.throwIfAborted()
  canceller.abort()
  canceller.abort()
  expect(told).toEqual(['twice'])
  expect(canceller.aborted).toBe(true)
  expect(() => canceller.throwIfAborted()).toThrow('aborted')
})

test('gives a signal that aborts with it, also if it was cancelled before', () => {
  const canceller = new Canceller()
  const before = signalOf(canceller)
  expect(before.aborted).toBe(false)
  canceller.abort()
  expect(before.aborted).toBe(true)
  expect(before.reason).toBe(canceller.reason)
  expect(signalOf(canceller).aborted).toBe(true)
  const signal = AbortSignal.abort()
  expect(signalOf(signal)).toBe(signal)
  expect(signalOf(NEVER_CANCELLED).aborted).toBe(false)
})
