/** Runs an in-process gateway on its own database, with test accounts and helpers to inspect their balances and usage. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../../src/accounts/accounts.ts'
import type { KeySecrets } from '../../src/accounts/key-secret.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { readConfig } from '../../src/app/config.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/app/gateway.ts'
import { sandboxFacts } from '../../src/app/sandbox-facts.ts'
import type { Tables } from '../../src/generated/types.ts'
import { credit } from '../../src/ledger/credit.ts'
import { createLog, type Logger } from '../../src/lib/log.ts'
import { microVnd } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { LASTING_TABLES } from './tables.ts'

export interface TestAccount {
  readonly email: string
  readonly accountId: number
  readonly keyId: number
  readonly apiKey: string
}

export interface UsageRow {
  readonly model: string
  readonly requested_name: string | null
  readonly status: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost: bigint
  readonly charged: bigint
  readonly balance_after: bigint
  readonly streamed: boolean
  readonly estimated: boolean
}

export interface TestGateway {
  readonly url: string
  readonly gateway: Gateway
  readonly database: TestDatabase
  readonly dataDir: string
  readonly secrets: KeySecrets
  account(creditMicroVnd: bigint): Promise<TestAccount>
  balance(accountId: number): Promise<bigint>
  /** The account's usage rows, once every answered call has its row. */
  usage(accountId: number): Promise<UsageRow[]>
  /** Resolves once the gateway has noticed that the client of the next request is gone. Call it before making the request. */
  clientGone(): Promise<void>
  /** Starts a second gateway on the same database. */
  sibling(): Promise<Gateway>
  close(): Promise<void>
}

/** Environment variables for a bank account. In production, top-ups require one, because payments are not simulated. */
export const TEST_BANK = { BANK_BIN: '970436', BANK_ACCOUNT: '0071000123456', BANK_ACCOUNT_NAME: 'CONG TY SVC' }

/** Environment variables for the company that runs the service. */
export const TEST_COMPANY = {
  COMPANY_NAME: 'Công ty TNHH SVC',
  COMPANY_ADDRESS: '1 Lê Lợi, Quận 1, TP. Hồ Chí Minh',
  COMPANY_TAX_CODE: '0302712571',
  SUPPORT_EMAIL: 'help@example.com',
} as const

/** Environment variables that production requires. */
export const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://gateway.test',
  DATABASE_URL: 'postgres://unused',
  KEY_ENCRYPTION_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
  KEY_PEPPERS: `1:${Buffer.alloc(32, 2).toString('base64')}`,
  ...TEST_COMPANY,
} as const

export interface TestGatewayOptions {
  /**
   * Base URLs by upstream id, with API keys where needed. The sandbox replaces every upstream that is not listed, unless
   * `sandboxed` is false.
   */
  readonly upstreams?: Readonly<Record<string, string | { readonly url: string; readonly keys: readonly string[] }>>
  readonly sandboxed?: boolean
  /** Catalogue tables to use instead of the generated ones, whose models never retire in tests. */
  readonly tables?: Tables
  readonly log?: Logger
  readonly environment?: Readonly<Record<string, string>>
  readonly imageFetch?: GatewayOptions['imageFetch']
  /** Value of both KEY_PEPPERS and KEY_ENCRYPTION_KEYS; by default, fresh ones. */
  readonly secrets?: string
}

let emails = 0

export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const tables = options.tables ?? LASTING_TABLES
  const database = await createTestDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  const peppers = parseSecretSet('KEY_PEPPERS', options.secrets ?? generateSecretSet())
  const encryption = parseSecretSet('KEY_ENCRYPTION_KEYS', options.secrets ?? generateSecretSet())
  const secrets: KeySecrets = { service: tables.settings.service, peppers, encryption }
  const sandbox: Sandbox = await startSandbox({
    ...sandboxFacts(tables),
    pace: { firstTokenMs: 0, tokensPerSecond: 0 },
  })
  const upstreamVariables = Object.entries(options.upstreams ?? {}).flatMap(([id, given]) => {
    const { url, keys } = typeof given === 'string' ? { url: given, keys: ['upstream-secret-1'] } : given
    const name = `UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`
    return [
      [`${name}_BASE_URL`, url],
      [`${name}_API_KEY`, keys.join(',')],
    ]
  })
  let instances = 0
  const start = () => {
    const environment = {
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'silent',
      PUBLIC_URL: 'http://gateway.test',
      // Settlements may be slow on a busy machine, and these tests do not measure speed.
      LIMIT_SETTLE_WAIT_MS: '20000',
      ...Object.fromEntries(upstreamVariables),
      ...options.environment,
    }
    return startGateway({
      config: readConfig({ environment, upstreamIds: tables.upstreams.map(({ id }) => id) }),
      databaseUrl: database.url,
      keySecrets: secrets,
      sandboxUrl: options.sandboxed === false ? null : sandbox.url,
      log: options.log ?? createLog('silent'),
      tables,
      instanceName: `test-${instances++}`,
      ...(options.imageFetch && { imageFetch: options.imageFetch }),
    })
  }
  const gateways = [await start()]
  const gateway = gateways[0] as Gateway
  const { sql } = database
  return {
    url: gateway.url,
    gateway,
    database,
    dataDir,
    secrets,
    async account(creditMicroVnd) {
      const email = `person-${++emails}@example.com`
      const { accountId } = await createAccount(sql, email)
      const { keyId, key: apiKey } = await createKey(sql, secrets, { accountId })
      if (creditMicroVnd > 0n) {
        await credit(sql, {
          accountId,
          amountMicroVnd: microVnd(creditMicroVnd),
          kind: 'adjustment',
          reference: 'test',
        })
      }
      return { email, accountId, keyId, apiKey }
    },
    async balance(accountId) {
      const [row] = await sql`select balance_micro_vnd::text as balance from wallet where account_id = ${accountId}`
      return BigInt(row?.balance)
    },
    async usage(accountId) {
      await gateway.readiness.idle()
      const rows = await sql`
        select entry_id as model, requested_name, status, input_tokens::int, output_tokens::int, cost_micro_vnd::text as cost,
               charged_micro_vnd::text as charged, balance_after_micro_vnd::text as balance_after, streamed, estimated
          from usage where account_id = ${accountId} order by seq`
      return rows.map(row => ({
        ...(row as unknown as UsageRow),
        cost: BigInt(row.cost),
        charged: BigInt(row.charged),
        balance_after: BigInt(row.balance_after),
      }))
    },
    clientGone() {
      return new Promise(resolve => {
        gateway.server.server.once('request', (_request, response) => response.once('close', resolve))
      })
    },
    async sibling() {
      const sibling = await start()
      gateways.push(sibling)
      return sibling
    },
    async close() {
      for (const running of gateways) await running.stop()
      await sandbox.close()
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
