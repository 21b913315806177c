import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/app/config.ts'

const read = (environment: Record<string, string>) => readConfig({ environment, upstreamIds: [] })

function faults(environment: Record<string, string>): readonly string[] {
  try {
    read(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

test('if nothing is set there is no bank account and no provider, and emails come from the service’s address', () => {
  const { bank, providers, mail } = read({ PUBLIC_URL: 'https://gateway.example.com' })
  expect(bank).toBeNull()
  expect(new Set(Object.values(providers))).toEqual(new Set([null]))
  expect(mail).toEqual({ smtpUrl: null, from: 'no-reply@gateway.example.com' })
})

test('all settings are read unchanged', () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const { bank, providers, mail } = read({
    BANK_BIN: '970436',
    BANK_ACCOUNT: '1012345678',
    BANK_ACCOUNT_NAME: 'CONG TY ABC',
    BANK_NAME: 'Vietcombank',
    SEPAY_WEBHOOK_SECRET: 'sepay-secret-0001',
    BANK_WEBHOOK_SECRET: secret,
    CASSO_CHECKSUM_KEY: ' ',
    SMTP_URL: 'smtp://user:password@mail.example.com:587',
    MAIL_FROM: 'Gateway <hello@example.com>',
  })
  expect(bank).toEqual({
    bin: '970436',
    accountNumber: '1012345678',
    accountName: 'CONG TY ABC',
    bankName: 'Vietcombank',
  })
  expect(providers).toMatchObject({
    sepayWebhookSecret: 'sepay-secret-0001',
    bankWebhookSecret: secret,
    cassoChecksumKey: null,
    payosChecksumKey: null,
  })
  expect(mail).toEqual({ smtpUrl: 'smtp://user:password@mail.example.com:587', from: 'Gateway <hello@example.com>' })
})

test.each(['p/ss', 'p#ss', 'p?ss', 'p%ss'])(
  'an SMTP password with %s must be percent-encoded, and the fault says so',
  password => {
    const at = (secret: string) => faults({ SMTP_URL: `smtp://user:${secret}@mail.example.com:587` })
    expect(at(password)).toEqual([expect.stringMatching(/^SMTP_URL cannot be read as a URL; .*percent-encode/)])
    expect(at(password).join()).not.toContain(password)
    expect(at(encodeURIComponent(password))).toEqual([])
  },
)

test('all faults are named at once, and no secret is repeated', () => {
  const found = faults({
    BANK_BIN: '97043',
    BANK_ACCOUNT: '10 12',
    BANK_WEBHOOK_SECRET: 'whsec_c2hvcnQ=',
    PAYOS_CHECKSUM_KEY: 'short-secret',
    SEPAY_SECRET: 'mistyped-variable-name',
    MAIL_FROM: 'nobody',
    SMTP_URL: 'mail.example.com',
  })
  expect(found).toEqual([
    expect.stringContaining('SEPAY_SECRET is not read by this gateway; it reads BANK_ACCOUNT, '),
    expect.stringContaining('BANK_ACCOUNT_NAME is not set'),
    expect.stringContaining('BANK_BIN is not six digits'),
    expect.stringContaining('BANK_ACCOUNT must be 1 to 19 letters or digits'),
    expect.stringContaining('PAYOS_CHECKSUM_KEY is shorter than 16 characters'),
    expect.stringContaining('BANK_WEBHOOK_SECRET is not in the form whsec_<base64 of at least 24 bytes>'),
    expect.stringContaining('MAIL_FROM is not an address'),
    expect.stringContaining('SMTP_URL is not a URL'),
  ])
  for (const secret of ['short-secret', 'mistyped-variable-name', 'c2hvcnQ']) expect(found.join()).not.toContain(secret)
})
