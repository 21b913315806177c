import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Prepares a place for one embedded Postgres; it starts only when a test file asks for a database.
    globalSetup: ['test/support/run-setup.ts'],
    setupFiles: ['test/support/leave-as-found.ts'],
    // Files share their worker and what it has loaded.
    isolate: false,
    // Twice the cores of the smallest machine: while some wait, others work.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Bounds for a busy machine, not expectations.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
