/** Runs a gateway whose catalogue has the two invented providers, orchard and harbour, each played by a test double. */

import { expect } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startTestGateway, type TestAccount, type UsageRow } from '../support/gateway.ts'
import { compileTables } from './catalogue.ts'
import { type Double, USED } from './double.ts'
import { startHarbour } from './harbour.ts'
import { startOrchard } from './orchard.ts'

export const CREDIT = 1_000_000n * 1_000_000n

export const MODELS = [
  { model: 'orchard-large-2', price: 3000n, double: 'orchard' },
  { model: 'harbour-1', price: 4000n, double: 'harbour' },
] as const

const EFFORTS: Readonly<Record<string, 'low' | 'high'>> = { brief: 'low', deep: 'high' }

export interface NewProviders {
  readonly url: string
  readonly orchard: Double
  readonly harbour: Double
  readonly account: TestAccount
  /** Creates a fresh account, and clears the calls that the doubles have recorded. */
  begin(): Promise<void>
  /** Checks that every call of the account cost `price` (in µVND) for each token that the provider reports. */
  expectBilled(calls: number, price: bigint): Promise<UsageRow>
  spent(): Promise<bigint>
  /** The reasoning effort of the last call that the double answered; null if the call did not ask the model to think. */
  thinking(double: 'orchard' | 'harbour'): 'low' | 'high' | null
  close(): Promise<void>
}

export async function startNewProviders(): Promise<NewProviders> {
  const [orchard, harbour] = await Promise.all([startOrchard(), startHarbour()])
  const running = await startTestGateway({
    tables: compileTables(),
    upstreams: {
      orchard: { url: `${orchard.url}/api`, keys: ['orchard-secret'] },
      harbour: { url: `${harbour.url}/anthropic`, keys: ['harbour-secret'] },
    },
  })
  let account = await running.account(CREDIT)
  const spent = async () => CREDIT - (await running.balance(account.accountId))
  return {
    url: running.url,
    orchard,
    harbour,
    get account() {
      return account
    },
    async begin() {
      account = await running.account(CREDIT)
      orchard.forget()
      harbour.forget()
    },
    async expectBilled(calls, price) {
      const rows = await running.usage(account.accountId)
      const charged = BigInt(USED.input + USED.output) * price
      const expected = {
        status: 200,
        input_tokens: USED.input,
        output_tokens: USED.output,
        cost: charged,
        charged,
        estimated: false,
      }
      expect(rows).toMatchObject(Array.from({ length: calls }, () => expected))
      expect(await spent()).toBe(BigInt(calls) * charged)
      return rows[0] as UsageRow
    },
    async spent() {
      await running.usage(account.accountId)
      return spent()
    },
    thinking(double) {
      const body = (double === 'orchard' ? orchard : harbour).served.at(-1)?.body ?? {}
      if (double === 'orchard') return EFFORTS[String(body.thinking_level)] ?? null
      const type = (body.thinking as JsonObject | undefined)?.type
      const effort = (body.output_config as JsonObject | undefined)?.effort
      return type === 'adaptive' && (effort === 'low' || effort === 'high') ? effort : null
    },
    async close() {
      await running.close()
      await Promise.all([orchard.close(), harbour.close()])
    },
  }
}
