/** Helpers for tests: alert services, and customers whose money, keys and emails a test can inspect. */

import { createAccount } from '../../src/accounts/accounts.ts'
import { postWebhooks, sendMails } from '../../src/alerts/deliver.ts'
import type { AlertLimits } from '../../src/alerts/limits.ts'
import { createAlerts } from '../../src/alerts/services.ts'
import type { AlertServices } from '../../src/alerts/types.ts'
import { createWebhookClient } from '../../src/alerts/webhook-client.ts'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { credit } from '../../src/ledger/credit.ts'
import type { Sql } from '../../src/lib/database.ts'
import type { MailMessage } from '../../src/lib/mail.ts'
import { vndToMicro } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

export interface TestAlerts extends AlertServices {
  readonly mails: MailMessage[]
  /** While true, sending emails fails. */
  refuseMails: boolean
  /** The emails sent to this address since the last call. */
  mailsTo(email: string): MailMessage[]
}

/** Long enough for a busy machine. Tests with receivers that never answer use shorter timeouts. */
const WEBHOOK_TIMEOUT_MS = 60_000

export function testAlerts(
  sql: Sql,
  change: Partial<Omit<AlertServices, 'limits' | 'counts'>> & { readonly limits?: Partial<AlertLimits> } = {},
): TestAlerts {
  const mails: MailMessage[] = []
  const services = createAlerts({
    sql,
    mailer: {
      async send(message) {
        if (alerts.refuseMails) throw new Error('421 try again')
        mails.push(message)
      },
      close: () => {},
    },
    webhookClient: createWebhookClient({ timeoutMs: WEBHOOK_TIMEOUT_MS, privateNetworks: ['127.0.0.0/8'] }),
    webhookTimeoutMs: WEBHOOK_TIMEOUT_MS,
    catalogue: createCatalogue(TABLES),
    secrets: {
      peppers: parseSecretSet('KEY_PEPPERS', generateSecretSet()),
      encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', generateSecretSet()),
    },
    publicUrl: 'https://gateway.test',
    serviceName: 'SVC',
    nowMs: Date.now,
    stopping: new AbortController().signal,
    report: () => {},
    ...change,
  })
  const alerts: TestAlerts = {
    ...services,
    mails,
    refuseMails: false,
    mailsTo: email => mails.splice(0).filter(mail => mail.to === email),
  }
  return alerts
}

/** Delivers what is due, by email and to webhooks. */
export async function deliverAlerts(alerts: TestAlerts): Promise<void> {
  await Promise.all([sendMails(alerts), postWebhooks(alerts)])
}

let accounts = 0

export interface TestCustomer {
  readonly accountId: number
  readonly email: string
}

export async function newCustomer(sql: Sql, { isVerified = true } = {}): Promise<TestCustomer> {
  const email = `alerted${++accounts}@example.com`
  const { accountId } = await createAccount(sql, email)
  if (isVerified) {
    await sql.unsafe(
      `update account set email_verified_at = now(), language = 'en' where account_id = $1::text::bigint`,
      [String(accountId)],
    )
  }
  return { accountId, email }
}

/** Credits this many dong. */
export async function topUp(sql: Sql, { accountId }: TestCustomer, vnd: number): Promise<void> {
  const reference = `test ${crypto.randomUUID()}`
  await credit(sql, { accountId, amountMicroVnd: vndToMicro(vnd), kind: 'adjustment', reference })
}

/** Charges this many dong, as if for a call that was settled `daysAgo` days ago. */
export async function spend(
  sql: Sql,
  { accountId }: TestCustomer,
  vnd: number,
  { keyId = 1, model = 'gpt-5.5', daysAgo = 0 } = {},
): Promise<void> {
  const [account, amount] = [String(accountId), String(vndToMicro(vnd))]
  await sql.unsafe(
    `update wallet set balance_micro_vnd = balance_micro_vnd - $2::text::bigint, seq = seq + 1
      where account_id = $1::text::bigint`,
    [account, amount],
  )
  await sql.unsafe(
    `insert into usage_daily as d (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
        cost_micro_vnd, charged_micro_vnd)
     values ($1::text::bigint, (now() at time zone 'Asia/Ho_Chi_Minh')::date - $5::text::integer, $3::text::bigint, $4,
        1, 0, 0, 0, 0, $2::text::bigint, $2::text::bigint)
     on conflict (account_id, day, key_id, entry_id) do update set calls = d.calls + 1,
        cost_micro_vnd = d.cost_micro_vnd + excluded.cost_micro_vnd,
        charged_micro_vnd = d.charged_micro_vnd + excluded.charged_micro_vnd`,
    [account, amount, String(keyId), model, String(daysAgo)],
  )
}
