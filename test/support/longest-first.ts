/** Starts the slowest test files first, so that none of them runs alone at the end. */

import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds in a full run on two cores, for machines without a cache of their own. Files below 20 s are left out. */
const SECONDS: Readonly<Record<string, number>> = {
  'test/browser/journey.test.ts': 150,
  'test/deploy/alerts.test.ts': 119,
  'test/replicas/redeploy.test.ts': 89,
  'test/fault/processes.test.ts': 83,
  'test/fault/database.test.ts': 53,
  'test/app/process.test.ts': 49,
  'test/app/start.test.ts': 43,
  'test/browser/first-money.test.ts': 37,
  'test/security/routes.test.ts': 37,
  'test/http/failover.test.ts': 35,
  'test/translate/real-streams.test.ts': 33,
  'test/replicas/replicas.test.ts': 32,
  'test/security/fuzz.test.ts': 31,
  'test/replicas/old-tables.test.ts': 30,
  'test/security/wire.test.ts': 29,
  'test/fault/storm.test.ts': 29,
  'test/dashboard/people.test.ts': 28,
  'test/browser/passkeys.test.ts': 27,
  'test/ledger/backup.test.ts': 26,
  'test/telemetry/traces.test.ts': 25,
  'test/replicas/metrics.test.ts': 25,
  'test/new-provider/story.test.ts': 24,
  'test/ledger/model.test.ts': 24,
  'test/http/stream-memory.test.ts': 24,
  'test/browser/sign-in.test.ts': 24,
  'test/app/stop.test.ts': 24,
  'test/dashboard/money.test.ts': 22,
  'test/security/database.test.ts': 21,
  'test/http/early-refusals.test.ts': 21,
  'test/dashboard/duties.test.ts': 21,
  'test/translate/stream-feed.test.ts': 20,
  'test/sdk/mixed-models.test.ts': 20,
}

/** By duration: as the last run measured it, else as listed; files without either come last, the largest first. */
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
