/** Starts the slowest test files first, so that none of them runs alone at the end. */

import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds in a full run on two cores, for machines without a cache of their own. Files below 20 s are left out. */
const SECONDS: Readonly<Record<string, number>> = {
  'test/browser/journey.test.ts': 130,
  'test/deploy/alerts.test.ts': 94,
  'test/fault/processes.test.ts': 70,
  'test/replicas/redeploy.test.ts': 65,
  'test/fault/database.test.ts': 60,
  'test/app/process.test.ts': 60,
  'test/security/wire.test.ts': 56,
  'test/ledger/reports.test.ts': 53,
  'test/app/start.test.ts': 53,
  'test/fault/storm.test.ts': 50,
  'test/http/stream-hold.test.ts': 50,
  'test/ledger/model.test.ts': 38,
  'test/browser/first-money.test.ts': 38,
  'test/replicas/replicas.test.ts': 36,
  'test/http/stream-memory.test.ts': 36,
  'test/new-provider/story.test.ts': 35,
  'test/telemetry/traces.test.ts': 33,
  'test/security/routes.test.ts': 30,
  'test/browser/passkeys.test.ts': 28,
  'test/fault/lost-hold.test.ts': 27,
  'test/dashboard/people.test.ts': 26,
  'test/http/conversion-errors.test.ts': 24,
  'test/translate/real-streams.test.ts': 24,
  'test/replicas/old-tables.test.ts': 24,
  'test/ledger/spool-damage.test.ts': 23,
  'test/fault/failover.test.ts': 22,
  'test/fault/controls.test.ts': 21,
  'test/dashboard/money.test.ts': 21,
  'test/http/failover.test.ts': 20,
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
