/** What the environment says of people and of money that comes in: mail, the bank account, who may notify us of transfers. */

import type { BankAccount } from '../payments/types.ts'

export interface PeopleConfig {
  /** Null: mail lands in the outbox below the data folder. */
  readonly smtpUrl: string | null
  /** `Name <name@example.com>`. */
  readonly mailFrom: string
  /** Null: nothing can be topped up by transfer. */
  readonly bank: BankAccount | null
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
}

/** The part of the reader of `config.ts` that is needed here. */
export interface EnvironmentReader {
  readonly faults: string[]
  text(name: string): string | null
}

/** Where simulated transfers go: a bank number that no bank has. */
const SANDBOX_BANK: BankAccount = {
  bin: '970400',
  accountNumber: '0000000000',
  accountName: 'SANDBOX',
  bankName: 'Sandbox Bank',
}

const ADDRESS = /^[0-9a-f.:]+(\/\d{1,3})?$/i

export function readPeopleConfig(reader: EnvironmentReader, { production }: { production: boolean }): PeopleConfig {
  return {
    smtpUrl: readSmtp(reader),
    mailFrom: reader.text('MAIL_FROM') ?? 'Gateway <no-reply@localhost>',
    bank: readBank(reader) ?? (production ? null : SANDBOX_BANK),
    trustedProxies: readProxies(reader),
  }
}

function readSmtp(reader: EnvironmentReader): string | null {
  const url = reader.text('SMTP_URL')
  if (url === null) return null
  if (URL.canParse(url) && /^smtps?:$/.test(new URL(url).protocol)) return url
  reader.faults.push('SMTP_URL is not a URL; write one such as smtp://user:password@host:587')
  return null
}

/** All of it or nothing. */
function readBank(reader: EnvironmentReader): BankAccount | null {
  const names = ['BANK_BIN', 'BANK_ACCOUNT_NUMBER', 'BANK_ACCOUNT_NAME', 'BANK_NAME'] as const
  const [bin, accountNumber, accountName, bankName] = names.map(name => reader.text(name))
  if ([bin, accountNumber, accountName, bankName].every(value => value === null)) return null
  if (!bin || !accountNumber || !accountName || !bankName) {
    reader.faults.push(`${names.join(', ')} belong together; set all of them or none`)
    return null
  }
  if (!/^\d{6}$/.test(bin)) reader.faults.push('BANK_BIN is not the six digits that NAPAS gives a bank')
  if (!/^[0-9A-Za-z]{1,19}$/.test(accountNumber))
    reader.faults.push('BANK_ACCOUNT_NUMBER is not 1 to 19 digits or letters')
  return { bin, accountNumber, accountName, bankName }
}

function readProxies(reader: EnvironmentReader): readonly string[] {
  const proxies = (reader.text('TRUSTED_PROXIES') ?? '')
    .split(',')
    .map(address => address.trim())
    .filter(address => address !== '')
  if (proxies.every(address => ADDRESS.test(address))) return proxies
  reader.faults.push('TRUSTED_PROXIES is not a list of addresses; write some such as 10.0.0.5,192.168.0.0/16')
  return []
}
