/** Starts the slowest test files first, so that none of them runs alone at the end. */

import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * How long each file took in a full run on two cores, in seconds; used until this machine has its own durations. Files below 15 s
 * are left out.
 */
const SECONDS: Readonly<Record<string, number>> = {
  'test/browser/journey.test.ts': 118,
  'test/deploy/alerts.test.ts': 81,
  'test/replicas/redeploy.test.ts': 52,
  'test/fault/database.test.ts': 52,
  'test/fault/processes.test.ts': 43,
  'test/app/process.test.ts': 27,
  'test/fault/storm.test.ts': 25,
  'test/browser/first-money.test.ts': 23,
  'test/app/stop.test.ts': 23,
  'test/security/wire.test.ts': 21,
  'test/translate/real-streams.test.ts': 21,
  'test/dashboard/people.test.ts': 20,
  'test/ledger/backup.test.ts': 20,
  'test/replicas/replicas.test.ts': 19,
  'test/http/failover.test.ts': 19,
  'test/dashboard/duties.test.ts': 19,
  'test/http/silent-reader.test.ts': 18,
  'test/telemetry/traces.test.ts': 18,
  'test/new-provider/story.test.ts': 17,
  'test/security/fuzz.test.ts': 17,
  'test/security/routes.test.ts': 16,
  'test/http/stream-hold.test.ts': 16,
  'test/dashboard/money.test.ts': 15,
  'test/http/stream-memory.test.ts': 15,
  'test/app/start.test.ts': 15,
}

/**
 * Sorts files by their duration in the last run on this machine, or else in `SECONDS`. Files without a duration come last, the
 * largest first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { cache, config } = this.ctx
    const missing = Object.keys(SECONDS).filter(file => !existsSync(`${config.root}/${file}`))
    if (missing.length > 0) throw new Error(`test/support/longest-first.ts lists ${missing.join(', ')}: no such file`)
    const seconds = (file: TestSpecification): number => {
      const measured = cache.getTestSpecificationResult(file)?.duration
      return measured === undefined ? (SECONDS[relative(config.root, file.moduleId)] ?? 0) : measured / 1000
    }
    return (await super.sort(files)).toSorted((a, b) => seconds(b) - seconds(a))
  }
}
