/**
 * Creates accounts with keys and money directly in the database, bypassing the gateways, and sends validly signed bank
 * notifications.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { limitConcurrency } from '../../../src/accounts/key-rate.ts'
import type { KeySecrets } from '../../../src/accounts/key-secret.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { COMMAND_LINE } from '../../../src/accounts/operator-log.ts'
import { TABLES } from '../../../src/generated/tables.ts'
import { credit } from '../../../src/ledger/credit.ts'
import type { Sql } from '../../../src/lib/database.ts'
import { microVnd } from '../../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../../src/lib/secrets.ts'
import { PAYMENT_LIMITS } from '../../../src/payments/limits.ts'
import { createOrder } from '../../../src/payments/orders.ts'
import type { PaymentServices } from '../../../src/payments/types.ts'

export const VND = 1_000_000n
const BANK = { bin: '970436', accountNumber: '1012345678', accountName: 'ABC', bankName: '' }

export interface Customer {
  readonly accountId: number
  readonly keyId: number
  readonly apiKey: string
}

export class Customers {
  readonly #encryptionKeys = generateSecretSet()
  readonly #peppers = generateSecretSet()
  readonly #bankSecret = randomBytes(24).toString('hex')
  #made = 0
  #transfers = 0

  /** Environment in which gateways accept the keys and transfers created here. */
  get environment(): Record<string, string> {
    return {
      KEY_ENCRYPTION_KEYS: this.#encryptionKeys,
      KEY_PEPPERS: this.#peppers,
      SEPAY_WEBHOOK_SECRET: this.#bankSecret,
      BANK_BIN: BANK.bin,
      BANK_ACCOUNT: BANK.accountNumber,
      BANK_ACCOUNT_NAME: BANK.accountName,
    }
  }

  get secrets(): KeySecrets {
    return {
      service: TABLES.settings.service,
      encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', this.#encryptionKeys),
      peppers: parseSecretSet('KEY_PEPPERS', this.#peppers),
    }
  }

  async create(sql: Sql, creditMicroVnd: bigint): Promise<Customer> {
    const { accountId } = await createAccount(sql, `customer-${++this.#made}@example.com`)
    const { keyId, key: apiKey } = await createKey(sql, this.secrets, { accountId })
    await limitConcurrency(sql, { accountId, keyId, by: COMMAND_LINE }, 0)
    if (creditMicroVnd > 0n) await addMoney(sql, accountId, creditMicroVnd)
    return { accountId, keyId, apiKey }
  }

  /** Creates a top-up order for the account, and the notification of a bank transfer that pays it. */
  async transfer(sql: Sql, accountId: number, amountVnd: number): Promise<Transfer> {
    const payments = { sql, bank: BANK, limits: PAYMENT_LIMITS } as unknown as PaymentServices
    const created = await createOrder(payments, { accountId, amountVnd: PAYMENT_LIMITS.orderVndMin })
    if (created.outcome !== 'created') throw new Error(`no order: ${created.outcome}`)
    const id = ++this.#transfers
    const body = JSON.stringify({
      id,
      transactionDate: '2026-11-21 09:59:58',
      accountNumber: BANK.accountNumber,
      content: created.order.orderCode,
      transferType: 'in',
      transferAmount: amountVnd,
      referenceCode: `FT${id}`,
    })
    return { reference: String(id), accountId, amountVnd, body }
  }

  /** Sends a transfer's notification, signed for a time `secondsOff` from now; returns the reply's status. */
  async notify(url: string, { body }: Transfer, secondsOff = 0): Promise<number> {
    const seconds = String(Math.floor(Date.now() / 1_000) + secondsOff)
    const signature = createHmac('sha256', this.#bankSecret).update(`${seconds}.${body}`).digest('hex')
    const headers = {
      'x-sepay-timestamp': seconds,
      'x-sepay-signature': `sha256=${signature}`,
      'content-type': 'application/json',
    }
    const reply = await fetch(`${url}/webhooks/bank/sepay`, {
      method: 'POST',
      body,
      headers,
      signal: AbortSignal.timeout(30_000),
    })
    await reply.arrayBuffer()
    return reply.status
  }
}

export interface Transfer {
  readonly reference: string
  readonly accountId: number
  readonly amountVnd: number
  readonly body: string
}

let credits = 0

export async function addMoney(sql: Sql, accountId: number, amount: bigint): Promise<void> {
  const reference = `fault test ${++credits}`
  await credit(sql, { accountId, amountMicroVnd: microVnd(amount), kind: 'adjustment', reference })
}

export async function walletOf(sql: Sql, accountId: number): Promise<{ balance: bigint; held: bigint }> {
  const [row] = await sql.unsafe(
    'select balance_micro_vnd, held_micro_vnd from wallet where account_id = $1::text::bigint',
    [String(accountId)],
  )
  return { balance: BigInt(row?.balance_micro_vnd), held: BigInt(row?.held_micro_vnd) }
}
