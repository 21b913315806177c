/**
 * Support for tests that run agent libraries' tool loops against the gateway: the model calls one tool for two cities, then
 * answers about both.
 */

import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestAccount, type TestGateway, type UsageRow } from './gateway.ts'

export const QUESTION = 'In parallel, what is the weather in "Hanoi" and "Paris"?'
export const SYSTEM = 'You tell people about the weather.'
export const PARAMETERS = z.object({ city: z.string(), days: z.number().int().min(1).max(5) })
export const NAME = 'get_weather'
export const DESCRIPTION = 'Current weather of a city'

const CREDIT = 1_000_000n * 1_000_000n

export interface WeatherWorld {
  readonly running: TestGateway
  /** A fresh account for each test. */
  readonly account: TestAccount
  /** Cities for which the tool was called. */
  readonly cities: string[]
  /** The tool that the model calls. */
  readonly weatherIn: (input: { city: string }) => string
}

/** Starts one gateway for all tests of a file. */
export function useWeatherWorld(): WeatherWorld {
  const world = {} as { -readonly [Member in keyof WeatherWorld]: WeatherWorld[Member] }
  world.weatherIn = ({ city }) => {
    world.cities.push(city)
    return `${city}: 31 degrees, humid`
  }
  beforeAll(async () => {
    world.running = await startTestGateway()
  })
  beforeEach(async () => {
    world.account = await world.running.account(CREDIT)
    world.cities = []
  })
  afterAll(() => world.running.close())
  return world
}

/** Checks that the tool ran twice, that the answer mentions both results, and that every call succeeded and was charged. */
export async function expectLoop(world: WeatherWorld, model: string, answer: string): Promise<UsageRow[]> {
  expect(world.cities).toHaveLength(2)
  expect(answer).toContain('31 degrees')
  const rows = await world.running.usage(world.account.accountId)
  expect(rows.map(row => [row.model, row.status, row.charged > 0n, row.estimated])).toEqual([
    [model, 200, true, false],
    [model, 200, true, false],
  ])
  return rows
}

export function tokensOf(rows: readonly UsageRow[]): number {
  return rows.reduce((sum, row) => sum + row.input_tokens + row.output_tokens, 0)
}
