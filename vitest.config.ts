import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Prepares a place for one embedded Postgres; it starts only when a test file asks for a database.
    globalSetup: ['test/support/postgres-setup.ts'],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
