/** Starts the slowest test files first, so that none of them runs alone at the end. */

import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds in a full run on two cores, for machines without a cache of their own. Files below 20 s are left out. */
const SECONDS: Readonly<Record<string, number>> = {
  'test/browser/journey.test.ts': 140,
  'test/replicas/redeploy.test.ts': 127,
  'test/app/start.test.ts': 86,
  'test/fault/processes.test.ts': 62,
  'test/http/stream-hold.test.ts': 44,
  'test/telemetry/traces.test.ts': 40,
  'test/app/process.test.ts': 39,
  'test/ledger/spool-damage.test.ts': 33,
  'test/http/body-permits.test.ts': 33,
  'test/fault/storm.test.ts': 32,
  'test/fault/database.test.ts': 30,
  'test/security/wire.test.ts': 30,
  'test/ledger/model.test.ts': 30,
  'test/http/stream-memory.test.ts': 30,
  'test/http/early-refusals.test.ts': 29,
  'test/replicas/replicas.test.ts': 27,
  'test/new-provider/story.test.ts': 26,
  'test/deploy/image.test.ts': 26,
  'test/http/failover.test.ts': 21,
  'test/replicas/old-tables.test.ts': 21,
  'test/translate/real-streams.test.ts': 21,
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
