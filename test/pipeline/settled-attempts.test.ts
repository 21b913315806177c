/** The attempts of a call as its usage row lists them. */

import { expect, test } from 'vitest'
import type { Call } from '../../src/pipeline/call.ts'
import { settledAttempts } from '../../src/pipeline/settled-attempts.ts'

const attempt = (startedMs: number, failure: object | null = null, label = 'orchard#1') => ({
  credential: { label },
  target: { model: 'm' },
  startedMs,
  failure,
})

function list(attempts: readonly object[], end: object = {}) {
  const call = { attempts, startedMs: 1_000 } as unknown as Call
  return settledAttempts(call, { atMs: 1_900, isClientGone: false, code: null, ...end })
}

const FAILED = attempt(1_010.4, { atMs: 1_200, code: 'upstream_overloaded', status: 529 })

test('an attempt that failed ended then; the last one ends with the call, as the call does', () => {
  const failed = {
    credential: 'orchard#1',
    model: 'm',
    startedMs: 10,
    endedMs: 200,
    outcome: 'upstream_overloaded',
    status: 529,
  }
  const last = { credential: 'orchard#1', model: 'm', startedMs: 250, endedMs: 900 }
  const attempts = [FAILED, attempt(1_250)]
  expect(list(attempts)).toEqual([failed, { ...last, outcome: 'ok' }])
  expect(list(attempts, { code: 'insufficient_balance' })).toEqual([
    failed,
    { ...last, outcome: 'insufficient_balance' },
  ])
  expect(list(attempts, { isClientGone: true, code: 'internal' })).toEqual([
    failed,
    { ...last, outcome: 'client_gone' },
  ])
})

test('an attempt without a reply has no status, and none begins before its call', () => {
  const lost = attempt(990, { atMs: 1_100, code: 'upstream_failed', status: 0 }, 'vườn 1')
  expect(list([lost])).toEqual([
    { credential: 'v??n?1', model: 'm', startedMs: 0, endedMs: 100, outcome: 'upstream_failed' },
  ])
})

test('the last 20 attempts are listed', () => {
  const attempts = Array.from({ length: 25 }, (_, index) => attempt(1_000 + index))
  expect(list(attempts).map(({ startedMs }) => startedMs)).toEqual(Array.from({ length: 20 }, (_, index) => index + 5))
})
