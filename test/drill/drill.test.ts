/** The short form of `make drill`. */

import { expect, test } from 'vitest'
import { runDrill } from './drill.ts'
import { findingsOf, tableOf } from './report.ts'

test('a lost disk costs no charge and no top-up', {
  timeout: 600_000,
}, async () => {
  const report = await runDrill({ stepMs: 1_000, callers: 6, onProgress: () => {} })
  expect(findingsOf(report), tableOf(report)).toEqual([])
  const [replayed, restored] = report.recoveries
  expect(replayed?.calls).toBeGreaterThan(20)
  // Most of the journal was newer than the file: without spools and bank it would be gone.
  expect(restored?.withoutCharge).toBeGreaterThan(10)
  expect(restored?.creditsGone).toBeGreaterThan(0)
})
