import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Prepares a place for one embedded Postgres; it starts only when a test file asks for a database.
    globalSetup: ['test/support/postgres-setup.ts'],
    maxWorkers: 2,
    // Bounds for a busy machine, not expectations.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
