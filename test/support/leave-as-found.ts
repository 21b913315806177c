/** Test files share a worker process, so each must undo what it changes in the process. */

import dns from 'node:dns/promises'
import { afterAll, expect, vi } from 'vitest'

const environment = { ...process.env }
const folder = process.cwd()
const replaceable = () => [
  performance.now,
  Date.now,
  Math.random,
  JSON.parse,
  globalThis.fetch,
  globalThis.setTimeout,
  dns.lookup,
  dns.Resolver,
]
const functions = replaceable()

// Registered first, so this hook runs last in every file.
afterAll(() => {
  const names = new Set([...Object.keys(environment), ...Object.keys(process.env)])
  const changed = [...names].filter(name => environment[name] !== process.env[name])
  expect(changed, 'environment variables that the file leaves changed').toEqual([])
  expect(process.cwd(), 'the working directory that the file leaves').toBe(folder)
  expect(vi.isFakeTimers(), 'the file leaves fake timers').toBe(false)
  expect(replaceable(), 'functions that the file leaves replaced').toEqual(functions)
})
