/** One embedded Postgres for the whole test run; each test file makes a database of its own on it. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-cluster-'))
  const cluster = await startEmbeddedPostgres({ dataDir, durable: false, settings: { max_connections: '300' } })
  project.provide('clusterUrl', cluster.url)
  return async () => {
    await cluster.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
