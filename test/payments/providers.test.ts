import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { PAYMENT_LIMITS } from '../../src/payments/limits.ts'
import { createBankProviders, NO_PROVIDER_SECRETS } from '../../src/payments/providers/index.ts'
import type { BankProvider, Headers } from '../../src/payments/types.ts'

/** 2026-11-21 10:00 in Vietnam. */
const NOW_MS = Date.UTC(2026, 10, 21, 3, 0, 0)
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

function provider(secrets: Partial<typeof NO_PROVIDER_SECRETS>, nowMs = NOW_MS): BankProvider {
  const all = createBankProviders(
    { ...NO_PROVIDER_SECRETS, ...secrets },
    { limits: PAYMENT_LIMITS, nowMs: () => nowMs },
  )
  expect(all.size).toBe(1)
  return [...all.values()][0]!
}

const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

function fault(verify: () => unknown): string {
  try {
    verify()
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
  return 'accepted'
}

describe('a provider exists only with its secret', () => {
  test.each([
    [{}, []],
    [{ sepayWebhookSecret: '', payosChecksumKey: '', cassoChecksumKey: '', bankWebhookSecret: '' }, []],
    [{ sepayApiKey: 'a' }, ['sepay']],
    [{ payosChecksumKey: 'a', cassoSecureToken: 'b', bankWebhookSecret: SECRET }, ['payos', 'casso', 'signed']],
  ])('%j', (secrets, names) => {
    const options = { limits: PAYMENT_LIMITS, nowMs: () => NOW_MS }
    expect([...createBankProviders({ ...NO_PROVIDER_SECRETS, ...secrets }, options).keys()]).toEqual(names)
  })
})

describe('SePay', () => {
  const sepay = provider({ sepayWebhookSecret: 'shared secret', sepayApiKey: 'an-api-key' })
  const body = {
    id: 92704,
    gateway: 'Vietcombank',
    transactionDate: '2026-11-21 09:59:58',
    accountNumber: '0123499999',
    code: null,
    content: 'chuyen tien mua iphone',
    transferType: 'in',
    transferAmount: 2_277_000,
    accumulated: 19_077_000,
    subAccount: null,
    referenceCode: 'mbvcb.3278907687',
    description: '',
  }
  const sign = (raw: Buffer, seconds = NOW_MS / 1_000, secret = 'shared secret'): Headers => ({
    'x-sepay-timestamp': String(seconds),
    'x-sepay-signature': `sha256=${createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest('hex')}`,
  })
  const raw = bytes(body)

  test('reads a signed notification', () => {
    expect(sepay.verify(raw, sign(raw))).toEqual([
      {
        providerReference: '92704',
        bankReference: 'MBVCB.3278907687',
        accountNumber: '0123499999',
        virtualAccountNumber: null,
        amountVnd: 2_277_000n,
        direction: 'in',
        memo: 'chuyen tien mua iphone',
        bookedAt: new Date('2026-11-21T02:59:58Z'),
      },
    ])
  })

  test('reads the virtual number to which money was transferred', () => {
    const virtual = bytes({ ...body, subAccount: '96247 va 01' })
    expect(sepay.verify(virtual, sign(virtual))).toMatchObject([
      { accountNumber: '0123499999', virtualAccountNumber: '96247VA01' },
    ])
  })

  test.each([
    ['no signature', {}],
    ['an empty signature', { 'x-sepay-timestamp': String(NOW_MS / 1_000), 'x-sepay-signature': '' }],
    ['another secret', sign(raw, NOW_MS / 1_000, 'other secret')],
    ['an empty secret', sign(raw, NOW_MS / 1_000, '')],
    ['another body', sign(bytes({ ...body, transferAmount: 9_999_999 }))],
    ['a time of six minutes ago', sign(raw, NOW_MS / 1_000 - 360)],
    ['a time six minutes ahead', sign(raw, NOW_MS / 1_000 + 360)],
    ['a time changed after signing', { ...sign(raw), 'x-sepay-timestamp': String(NOW_MS / 1_000 + 1) }],
    ['the weaker key although a secret is set', { authorization: 'Apikey an-api-key' }],
    ['two signatures', { ...sign(raw), 'x-sepay-signature': [sign(raw)['x-sepay-signature'] as string, 'x'] }],
  ])('refuses %s', (_, headers) => {
    expect(fault(() => sepay.verify(raw, headers as Headers))).toBe('notification_refused')
  })

  test('a time four minutes ago is still accepted, as is one in milliseconds', () => {
    expect(fault(() => sepay.verify(raw, sign(raw, NOW_MS / 1_000 - 240)))).toBe('accepted')
    expect(fault(() => sepay.verify(raw, sign(raw, NOW_MS)))).toBe('accepted')
  })

  test('if only an API key is set, the key is checked', () => {
    const plain = provider({ sepayApiKey: 'an-api-key' })
    expect(fault(() => plain.verify(raw, { authorization: 'Apikey an-api-key' }))).toBe('accepted')
    for (const authorization of ['Apikey an-api-kez', 'Apikey ', 'Bearer an-api-key', '', undefined]) {
      expect(fault(() => plain.verify(raw, { authorization }))).toBe('notification_refused')
    }
  })

  test.each([
    ['no id', { id: null }],
    ['no account', { accountNumber: '' }],
    ['an unknown direction', { transferType: 'sideways' }],
    ['no amount', { transferAmount: 0 }],
    ['a negative amount of none', { transferAmount: 'abc' }],
    ['an amount that came in below 0', { transferAmount: -50_000 }],
    ['half a dong', { transferAmount: 50_000.5 }],
    ['an endless amount', { transferAmount: 1e20 }],
    ['more money than there is', { transferAmount: 10_000_000_000_001 }],
  ])('says of %s that it is not understood', (_, change) => {
    const odd = bytes({ ...body, ...change })
    expect(fault(() => sepay.verify(odd, sign(odd)))).toBe('notification_unreadable')
  })

  test.each(['', 'null', '[]', '{', '"x"'])('says of the signed body %j that it is not understood', text => {
    expect(fault(() => sepay.verify(bytes(text), sign(bytes(text))))).toBe('notification_unreadable')
  })

  test('outgoing money is recognised as such', () => {
    const out = bytes({ ...body, transferType: 'out' })
    expect(sepay.verify(out, sign(out))).toMatchObject([{ direction: 'out', amountVnd: 2_277_000n }])
  })
})

describe('payOS', () => {
  /** The example in payOS' documentation, word for word. */
  const checksumKey = '1a54716c8f0efb2744fb28b6e38b25da7f67a925d98bc1c18bd8faaecadd7675'
  const payos = provider({ payosChecksumKey: checksumKey })
  const body = {
    code: '00',
    desc: 'success',
    success: true,
    data: {
      orderCode: 123,
      amount: 3000,
      description: 'VQRIO123',
      accountNumber: '12345678',
      reference: 'TF230204212323',
      transactionDateTime: '2023-02-04 18:25:00',
      currency: 'VND',
      paymentLinkId: '124c33293c43417ab7879e14c8d9eb18',
      code: '00',
      desc: 'Thành công',
      counterAccountBankId: '',
      counterAccountBankName: '',
      counterAccountName: '',
      counterAccountNumber: '',
      virtualAccountName: '',
      virtualAccountNumber: '',
    },
    signature: '412e915d2871504ed31be63c8f62a149a4410d34c4c42affc9006ef9917eaa03',
  }

  test('reads the example of its documentation', () => {
    expect(payos.verify(bytes(body), {})).toEqual([
      {
        providerReference: '124c33293c43417ab7879e14c8d9eb18/TF230204212323',
        bankReference: 'TF230204212323',
        accountNumber: '12345678',
        virtualAccountNumber: null,
        amountVnd: 3_000n,
        direction: 'in',
        memo: 'VQRIO123',
        payer: null,
        bookedAt: new Date('2023-02-04T11:25:00Z'),
      },
    ])
  })

  test('a negative amount is outgoing money', () => {
    const data = { ...body.data, amount: -3000 }
    const members = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
    const signed = members.map(([key, value]) => `${key}=${value}`).join('&')
    const signature = createHmac('sha256', checksumKey).update(signed).digest('hex')
    expect(payos.verify(bytes({ ...body, data, signature }), {})).toMatchObject([
      { direction: 'out', amountVnd: 3_000n },
    ])
  })

  test('null counts as nothing in the signed text', () => {
    const nulls = { ...body.data, counterAccountName: null, virtualAccountName: null }
    expect(fault(() => payos.verify(bytes({ ...body, data: nulls }), {}))).toBe('accepted')
  })

  test.each([
    ['no signature', { ...body, signature: undefined }],
    ['an empty signature', { ...body, signature: '' }],
    ['a signature that is not text', { ...body, signature: { length: 64 } }],
    ['another amount', { ...body, data: { ...body.data, amount: 3_000_000 } }],
    ['a field more', { ...body, data: { ...body.data, extra: 1 } }],
    ['no data', { ...body, data: null }],
    ['a list', []],
    ['nothing', ''],
  ])('refuses %s', (_, changed) => {
    expect(fault(() => payos.verify(bytes(changed), {}))).toBe('notification_refused')
  })
})

describe('Casso', () => {
  /** The example in Casso's documentation. */
  const SENT_MS = 1_727_948_258_788
  const checksumKey = 'mgExMrjj4i7a1p8Cs6LmFbpCd8lbw4sSX4LZXPag7TKazeIogtR90tvWYTkwQbvs'
  const signature =
    'ed0a4bd2e826d5cb69988cdb141e6c1a080e21f3b57eb72cd78192220042b9e7dde0868fc667faea8e224900fa7904e7c88dfa098032fb2d6b6996856e8b7ff3'
  const headers = { 'x-casso-signature': `t=${SENT_MS},v1=${signature}` }
  const data = {
    id: 0,
    reference: 'MA_GIAO_DICH_THU_NGHIEM',
    description: 'giao dich thu nghiem',
    amount: 599_000,
    runningBalance: 25_000_000,
    transactionDateTime: '2024-10-03 15:06:37',
    accountNumber: '88888888',
    bankName: 'VPBank',
    bankAbbreviation: 'VPB',
    virtualAccountNumber: '',
    virtualAccountName: '',
    counterAccountName: 'NGUYEN VAN A',
    counterAccountNumber: '8888888888',
    counterAccountBankId: '970415',
    counterAccountBankName: 'VietinBank',
  }
  const casso = provider({ cassoChecksumKey: checksumKey, cassoSecureToken: 'older token' }, SENT_MS + 1_000)

  test('reads the example of its documentation, in any order of keys', () => {
    const expected = [
      {
        providerReference: '0',
        bankReference: 'MA_GIAO_DICH_THU_NGHIEM',
        accountNumber: '88888888',
        virtualAccountNumber: null,
        amountVnd: 599_000n,
        direction: 'in',
        memo: 'giao dich thu nghiem',
        payer: 'NGUYEN VAN A',
        bookedAt: new Date('2024-10-03T08:06:37Z'),
      },
    ]
    expect(casso.verify(bytes({ error: 0, data }), headers)).toEqual(expected)
    const reversed = Object.fromEntries(Object.entries(data).reverse())
    expect(casso.verify(bytes({ data: reversed, error: 0 }), headers)).toEqual(expected)
  })

  test.each([
    ['no signature', { error: 0, data }, {}],
    ['another amount', { error: 0, data: { ...data, amount: 5_990_000 } }, headers],
    ['a key named __proto__', JSON.stringify({ error: 0, data }).replace('{', '{"__proto__":{"x":1},'), headers],
    ['another time', { error: 0, data }, { 'x-casso-signature': `t=${SENT_MS + 1},v1=${signature}` }],
    ['a signature cut short', { error: 0, data }, { 'x-casso-signature': `t=${SENT_MS},v1=${signature.slice(0, 64)}` }],
    ['the older token although a key is set', { error: 0, data }, { 'secure-token': 'older token' }],
    ['a body that is not an object', '"x"', headers],
  ])('refuses %s', (_, body, given) => {
    expect(fault(() => casso.verify(bytes(body), given))).toBe('notification_refused')
  })

  test('refuses a signed notification with more members than any has, because it would take long to check', () => {
    const signed = (more: number) => {
      const extra = Object.fromEntries(Array.from({ length: more }, (_, index) => [`k${index}`, index]))
      const sorted = Object.fromEntries(Object.entries({ ...data, ...extra }).sort(([a], [b]) => (a < b ? -1 : 1)))
      const text = JSON.stringify({ data: sorted, error: 0 })
      const code = createHmac('sha512', checksumKey).update(`${SENT_MS}.${text}`).digest('hex')
      return () => casso.verify(Buffer.from(text), { 'x-casso-signature': `t=${SENT_MS},v1=${code}` })
    }
    const rest = PAYMENT_LIMITS.sortedMembersMax - Object.keys({ data, error: 0, ...data }).length
    expect(signed(rest)()).toHaveLength(1)
    expect(fault(signed(rest + 1))).toBe('notification_refused')
  })

  test('refuses the genuine example six minutes later', () => {
    const late = provider({ cassoChecksumKey: checksumKey }, SENT_MS + 360_000)
    expect(fault(() => late.verify(bytes({ error: 0, data }), headers))).toBe('notification_refused')
  })

  test('reads the older form, a list secured by a token; outgoing money has a negative amount', () => {
    const older = provider({ cassoSecureToken: 'older token' })
    const list = [
      {
        id: 11,
        tid: 'ft 1',
        description: 'nap',
        amount: 50_000,
        when: '2026-11-21 09:00:00',
        bank_sub_acc_id: '123 456',
        virtualAccountNumber: '789 va',
      },
      { id: 12, tid: 'ft 2', description: 'rut', amount: -20_000, when: '', bank_sub_acc_id: '123 456' },
    ]
    expect(older.verify(bytes({ error: 0, data: list }), { 'secure-token': 'older token' })).toMatchObject([
      {
        providerReference: '11',
        bankReference: 'FT1',
        accountNumber: '123456',
        virtualAccountNumber: '789VA',
        amountVnd: 50_000n,
        direction: 'in',
      },
      { providerReference: '12', bankReference: 'FT2', amountVnd: 20_000n, direction: 'out', bookedAt: null },
    ])
    expect(fault(() => older.verify(bytes({ data: list }), { 'secure-token': 'other' }))).toBe('notification_refused')
  })
})

describe('any other source', () => {
  const signed = provider({ bankWebhookSecret: SECRET })
  const body = {
    transactions: [
      { id: 'a-1', account_number: '1012345678', amount_vnd: 50_000, direction: 'in', memo: 'nap tien' },
      {
        id: 'a-2',
        account_number: '1012345678',
        amount_vnd: '60000',
        direction: 'out',
        bank_reference: 'ft 2',
        booked_at: '2026-11-21T02:00:00Z',
      },
    ],
  }
  const sign = (raw: Buffer, { ageMs = 0, secret = SECRET } = {}): Headers => {
    const sent = new Date(NOW_MS - ageMs)
    const id = 'msg_1'
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sent.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, sent, raw.toString('utf8')),
    }
  }
  const raw = bytes(body)

  test('reads what the reference implementation has signed', () => {
    expect(signed.verify(raw, sign(raw))).toEqual([
      {
        providerReference: 'a-1',
        bankReference: null,
        accountNumber: '1012345678',
        amountVnd: 50_000n,
        direction: 'in',
        memo: 'nap tien',
        payer: null,
        bookedAt: null,
      },
      {
        providerReference: 'a-2',
        bankReference: 'FT2',
        accountNumber: '1012345678',
        amountVnd: 60_000n,
        direction: 'out',
        memo: '',
        payer: null,
        bookedAt: new Date('2026-11-21T02:00:00Z'),
      },
    ])
    const second = { ...sign(raw), 'webhook-signature': `v1,xyz ${sign(raw)['webhook-signature']}` }
    expect(fault(() => signed.verify(raw, second))).toBe('accepted')
  })

  test.each([
    ['no headers', {}],
    ['another secret', sign(raw, { secret: `whsec_${Buffer.alloc(32, 8).toString('base64')}` })],
    ['six minutes ago', sign(raw, { ageMs: 360_000 })],
    ['another id', { ...sign(raw), 'webhook-id': 'msg_2' }],
    ['another body', sign(bytes({ transactions: [] }))],
  ])('refuses %s', (_, headers) => {
    expect(fault(() => signed.verify(raw, headers as Headers))).toBe('notification_refused')
  })

  test.each([
    ['no list', {}],
    ['too long a list', { transactions: Array.from({ length: 201 }, () => body.transactions[0]) }],
    ['a negative amount', { transactions: [{ ...body.transactions[0], amount_vnd: -50_000 }] }],
    ['an item that is not an object', { transactions: ['x'] }],
  ])('says of %s that it is not understood', (_, odd) => {
    expect(fault(() => signed.verify(bytes(odd), sign(bytes(odd))))).toBe('notification_unreadable')
  })
})
