/** Environment settings for the bank account, the services that report its transactions, and outgoing mail. */

import type { ProviderSecrets } from '../payments/providers/index.ts'
import { readWebhookSecret } from '../payments/providers/signed.ts'
import type { BankAccount } from '../payments/types.ts'

export interface BankConfig {
  /** Account that customers transfer money to; null when top-ups by transfer are off. */
  readonly bank: BankAccount | null
  readonly providers: ProviderSecrets
  /** Base URL of SePay's transaction list. */
  readonly sepayApiUrl: string
  readonly mail: MailConfig
}

export interface MailConfig {
  /** URL of the mail server; null: emails are written as files to the data folder. */
  readonly smtpUrl: string | null
  readonly from: string
}

interface Reader {
  readonly faults: string[]
  text(name: string): string | null
  url(name: string, protocols: readonly string[]): string | null
}

const SECRET_CHARACTERS_MIN = 16
const SECRETS = {
  sepayWebhookSecret: 'SEPAY_WEBHOOK_SECRET',
  sepayApiKey: 'SEPAY_API_KEY',
  payosChecksumKey: 'PAYOS_CHECKSUM_KEY',
  cassoChecksumKey: 'CASSO_CHECKSUM_KEY',
  cassoSecureToken: 'CASSO_SECURE_TOKEN',
  bankWebhookSecret: 'BANK_WEBHOOK_SECRET',
  sepayApiToken: 'SEPAY_API_TOKEN',
} as const satisfies Record<keyof ProviderSecrets, string>
const ACCOUNT = ['BANK_BIN', 'BANK_ACCOUNT', 'BANK_ACCOUNT_NAME', 'BANK_NAME'] as const
const SEPAY_API_URL = 'SEPAY_API_URL'
const KNOWN: ReadonlySet<string> = new Set([...ACCOUNT, ...Object.values(SECRETS), SEPAY_API_URL])
/** Unknown variables with one of these prefixes are rejected, because a mistyped name would silently disable a webhook. */
const PREFIXES = /^(BANK|SEPAY|PAYOS|CASSO)_/

/** Reads the settings and collects faults in `reader`. `names` lists the variables that are set. */
export function readBankConfig(reader: Reader, names: Iterable<string>, publicUrl: string): BankConfig {
  for (const name of names) {
    if (!PREFIXES.test(name) || KNOWN.has(name)) continue
    reader.faults.push(`${name} is not read by this gateway; it reads ${[...KNOWN].sort().join(', ')}`)
  }
  return {
    bank: readBank(reader),
    providers: readSecrets(reader),
    sepayApiUrl: reader.url(SEPAY_API_URL, ['http:', 'https:']) ?? 'https://userapi.sepay.vn/v2',
    mail: readMail(reader, publicUrl),
  }
}

function readBank(reader: Reader): BankAccount | null {
  const [bin, accountNumber, accountName, bankName] = ACCOUNT.map(name => reader.text(name))
  if (!bin && !accountNumber && !accountName && !bankName) return null
  const required = { BANK_BIN: bin, BANK_ACCOUNT: accountNumber, BANK_ACCOUNT_NAME: accountName }
  for (const [name, value] of Object.entries(required)) {
    if (!value) reader.faults.push(`${name} is not set; ${Object.keys(required).join(', ')} belong together`)
  }
  if (bin && !/^\d{6}$/.test(bin)) reader.faults.push("BANK_BIN is not six digits; write your bank's code, e.g. 970436")
  if (accountNumber && !/^[A-Za-z0-9]{1,19}$/.test(accountNumber)) {
    reader.faults.push('BANK_ACCOUNT must be 1 to 19 letters or digits, without spaces')
  }
  return {
    bin: bin ?? '',
    accountNumber: accountNumber ?? '',
    accountName: accountName ?? '',
    bankName: bankName ?? '',
  }
}

function readSecrets(reader: Reader): ProviderSecrets {
  const entries = Object.entries(SECRETS).map(([key, name]) => [key, readSecret(reader, name)])
  return Object.fromEntries(entries) as unknown as ProviderSecrets
}

/** Reads a webhook secret. Fault messages never contain its value. */
function readSecret(reader: Reader, name: string): string | null {
  const value = reader.text(name)
  if (value === null) return null
  if (name === SECRETS.bankWebhookSecret) {
    try {
      readWebhookSecret(value)
    } catch (error) {
      reader.faults.push(`${name} ${(error as Error).message}, e.g. whsec_ and \`openssl rand -base64 32\``)
    }
  } else if (value.length < SECRET_CHARACTERS_MIN) {
    reader.faults.push(`${name} is shorter than ${SECRET_CHARACTERS_MIN} characters: anyone could guess it`)
  }
  return value
}

function readMail(reader: Reader, publicUrl: string): MailConfig {
  const from = reader.text('MAIL_FROM') ?? `no-reply@${new URL(publicUrl).hostname}`
  if (!/^([^<>\r\n]*<)?[^\s@<>]+@[^\s@<>]+>?$/.test(from)) {
    reader.faults.push('MAIL_FROM is not an address; write name@example.com or Name <name@example.com>')
  }
  return { smtpUrl: reader.url('SMTP_URL', ['smtp:', 'smtps:']), from }
}
