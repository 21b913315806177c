import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { BanksObject, QRPay } from 'vietnam-qr-pay'
import { describe, expect, test } from 'vitest'
import { pictureSize, pictureType } from '../../src/lib/picture.ts'
import { readAmountVnd } from '../../src/payments/amount.ts'
import { bankApps, readBankAppList } from '../../src/payments/bank-apps.ts'
import { findOrderCodes } from '../../src/payments/memo.ts'
import { isOrderCode, makeOrderCode } from '../../src/payments/order-code.ts'
import { renderQrPng } from '../../src/payments/qr-png.ts'
import { renderQrSvg } from '../../src/payments/qr-svg.ts'
import { crc16, encodeVietQr } from '../../src/payments/vietqr.ts'

/** Loaded with `require`, because the package is CommonJS although its types say otherwise. */
const readQr = createRequire(import.meta.url)('jsqr') as typeof import('jsqr').default

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Has easily confused characters. Not random, because a random code could form another valid code with the text around it. */
const CODE = 'STYFW319052S'

describe('order codes', () => {
  test('are ST and ten characters without I, L, O and U, never twice the same', () => {
    const codes = new Set(Array.from({ length: 2_000 }, () => makeOrderCode()))
    expect(codes.size).toBe(2_000)
    for (const code of codes) {
      expect(code).toMatch(/^ST[0-9A-HJKMNP-TV-Z]{10}$/)
      expect(isOrderCode(code)).toBe(true)
    }
  })

  test('a wrong character is detected, except in the one pair that the check cannot distinguish', () => {
    let missed = 0
    let tried = 0
    for (let turn = 0; turn < 50; turn++) {
      const code = makeOrderCode()
      for (let place = 2; place < 12; place++) {
        for (const character of ALPHABET) {
          if (code[place] === character) continue
          tried++
          if (!isOrderCode(code.slice(0, place) + character + code.slice(place + 1))) continue
          missed++
          expect([code[place], character].toSorted()).toEqual(['0', 'Z'])
        }
      }
    }
    expect(missed / tried).toBeLessThan(0.01)
  })

  test('two swapped neighbours are detected', () => {
    let missed = 0
    for (let turn = 0; turn < 200; turn++) {
      const code = makeOrderCode()
      for (let place = 2; place < 10; place++) {
        const swapped = code.slice(0, place) + code[place + 1] + code[place] + code.slice(place + 2)
        if (swapped !== code && isOrderCode(swapped)) {
          missed++
          expect([code[place], code[place + 1]].toSorted()).toEqual(['0', 'Z'])
        }
      }
    }
    expect(missed).toBeLessThan(20)
  })

  test.each(['', 'ST', 'st7k3m9qxa2f', 'ST7K3M9QXA2I', `${CODE}0`, CODE.slice(1), `${CODE}\n`])(
    '%j is not a code',
    text => {
      expect(isOrderCode(text)).toBe(false)
    },
  )
})

describe('memos', () => {
  const chunks = `${CODE.slice(0, 6)} ${CODE.slice(6)}`
  test.each([
    ['alone', CODE],
    ['in small letters', CODE.toLowerCase()],
    ['after the bank’s own text', `MBVCB.3278907687.${CODE}.CT tu 0071000123456 NGUYEN VAN A toi 0011004567890`],
    ['with the payer’s name right after it', `${CODE} NGUYEN THI HOA chuyen tien`],
    ['cut into chunks', chunks],
    ['cut at every character', [...CODE].join(' ')],
    ['with hyphens and dots', `${CODE.slice(0, 2)}-${CODE.slice(2, 7)}.${CODE.slice(7)}`],
    ['with line breaks', `GD 123\n${CODE.slice(0, 9)}\r\n${CODE.slice(9)}`],
    [
      'in full-width characters',
      [...CODE].map(character => String.fromCodePoint(character.codePointAt(0)! + 0xfee0)).join(''),
    ],
    ['with combining marks added', `Nạp tiền ${[...CODE].join('\u0300')}`],
    ['with O for 0 and I or L for 1', `nap ${CODE.replaceAll('0', 'O').replaceAll('1', 'l')}`],
    ['glued to the text before it', `CKST${CODE}`],
  ])('a code %s is found', (_, memo) => {
    expect(findOrderCodes(memo)).toEqual([CODE])
  })

  test('a code is found even if the text around it forms another one with it', () => {
    expect(findOrderCodes('CKSTSTTEH1AYMH9E')).toEqual(['STSTTEH1AYMH', 'STTEH1AYMH9E'])
  })

  test('several codes are found in their order, each once', () => {
    const other = 'STTEH1AYMH9E'
    expect(findOrderCodes(`${other} va ${CODE} va ${other}`)).toEqual([other, CODE])
  })

  test.each([
    ['nothing', ''],
    ['no code', 'chuyen tien nha thang 11'],
    ['a wrong check character', CODE.slice(0, 11) + ALPHABET[(ALPHABET.indexOf(CODE[11]!) + 1) % 31]],
    ['a code cut short', CODE.slice(0, 11)],
    ['a code beyond the length of memos', `${'x'.repeat(2_000)}${CODE}`],
  ])('%s has none', (_, memo) => {
    expect(findOrderCodes(memo)).toEqual([])
  })

  test('any text is read without harm', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), memo => {
        for (const code of findOrderCodes(memo)) expect(isOrderCode(code)).toBe(true)
      }),
    )
    expect(findOrderCodes('ST'.repeat(1_000_000))).toEqual([])
  })
})

describe('VietQR', () => {
  test('gives the payload of the published examples', () => {
    expect(crc16('123456789')).toBe(0x29b1)
    const payload = encodeVietQr({ bin: '970436', accountNumber: '1012345678', amountVnd: 50_000, memo: CODE })
    expect(payload.startsWith('00020101021238')).toBe(true)
    expect(
      encodeVietQr({ bin: '970436', accountNumber: '0110012349999', amountVnd: 50_000, memo: 'ST7K3M9QXA2F' }),
    ).toMatch(
      /^00020101021238570010A00000072701270006970436011301100123499990208QRIBFTTA53037045405500005802VN62160812ST7K3M9QXA2F6304[0-9A-F]{4}$/,
    )
  })

  test('equals the output of another implementation byte for byte, and can be read back', () => {
    const bins = Object.values(BanksObject)
      .map(bank => bank.bin)
      .filter(bin => /^\d{6}$/.test(bin))
    const account = fc.stringMatching(/^[A-Z0-9]{1,19}$/)
    fc.assert(
      fc.property(
        fc.constantFrom(...bins),
        account,
        fc.integer({ min: 1, max: 999_999_999 }),
        (bin, accountNumber, amountVnd) => {
          const memo = makeOrderCode()
          const oracle = QRPay.initVietQR({
            bankBin: bin,
            bankNumber: accountNumber,
            amount: String(amountVnd),
            purpose: memo,
          })
          const payload = encodeVietQr({ bin, accountNumber, amountVnd, memo })
          expect(payload).toBe(oracle.build())
          expect(new QRPay(payload)).toMatchObject({
            isValid: true,
            amount: String(amountVnd),
            consumer: { bankBin: bin, bankNumber: accountNumber },
            additionalData: { purpose: memo },
          })
        },
      ),
      { numRuns: 200 },
    )
  })

  test.each([
    [{ bin: '97043' }],
    [{ bin: 'abcdef' }],
    [{ accountNumber: '' }],
    [{ accountNumber: '1'.repeat(20) }],
    [{ amountVnd: 0 }],
    [{ amountVnd: -5 }],
    [{ amountVnd: 1.5 }],
    [{ amountVnd: Number.NaN }],
    [{ memo: '' }],
    [{ memo: 'x'.repeat(26) }],
    [{ memo: 'ký tự' }],
  ])('refuses %j', change => {
    const good = { bin: '970436', accountNumber: '1012345678', amountVnd: 50_000, memo: CODE }
    expect(() => encodeVietQr({ ...good, ...change })).toThrow(RangeError)
  })

  test('a QR reader finds the payload in the drawing', () => {
    const payload = encodeVietQr({ bin: '970436', accountNumber: '1012345678', amountVnd: 50_000, memo: CODE })
    const svg = renderQrSvg(payload, 'Nạp "50.000" <₫>')
    expect(svg).toContain('aria-label="Nạp &#34;50.000&#34; &#60;₫&#62;"')
    expect(svg).not.toMatch(/style|script|href/)
    expect(svg.length).toBeLessThan(20_000)
    expect(readQr(...rasterise(svg))?.data).toBe(payload)
  })
})

/** Draws the SVG with four pixels per module. Understands only the kind of SVG that the gateway draws. */
function rasterise(svg: string): [Uint8ClampedArray, number, number] {
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1])
  const width = size * 4
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255)
  const dark = /fill="#000" d="([^"]*)"/.exec(svg)?.[1] ?? ''
  for (const [, x, y, length] of dark.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let row = Number(y) * 4; row < Number(y) * 4 + 4; row++) {
      const start = (row * width + Number(x) * 4) * 4
      for (let at = start; at < start + Number(length) * 16; at += 4) pixels.set([0, 0, 0], at)
    }
  }
  return [pixels, width, width]
}

test.each([
  ['50000', 50_000],
  ['50.000', 50_000],
  ['50,000', 50_000],
  ['1 500 000', 1_500_000],
  [' 50.000 ₫ ', 50_000],
  ['50.000đ', 50_000],
  ['200000 VND', 200_000],
  ['1.234.567.890', 1_234_567_890],
  ['', null],
  ['0', null],
  ['-50000', null],
  ['50.00', null],
  ['50.0000', null],
  ['50.000,00', null],
  ['1.000,000', null],
  ['50k', null],
  ['fifty', null],
  ['5e4', null],
  ['0x50', null],
  ['５００００', null],
  ['1'.repeat(13), null],
])('the amount %j is %s', (text, amount) => {
  expect(readAmountVnd(text)).toBe(amount)
})

test('a QR reader finds the payload in the PNG', () => {
  const payload = encodeVietQr({ bin: '970436', accountNumber: '1012345678', amountVnd: 70_000, memo: CODE })
  const png = renderQrPng(payload)
  const { width, height, data } = pixelsOf(png)
  expect(readQr(data, width, height)?.data).toBe(payload)
  expect([pictureType(png), pictureSize(png)]).toEqual(['image/png', { width, height }])
  expect(width).toBeGreaterThan(400)
})

/** The pixels of a PNG with one bit per pixel and no filters, in the form that QR readers expect. */
function pixelsOf(png: Buffer): { width: number; height: number; data: Uint8ClampedArray } {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const length = png.readUInt32BE(33)
  const lines = inflateSync(png.subarray(41, 41 + length))
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  const lineBytes = 1 + Math.ceil(width / 8)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const bit = (lines[y * lineBytes + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1
      data.fill(bit * 255, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  }
  return { width, height, data }
}

describe('links to banking apps', () => {
  const bank = { bin: '970436', accountNumber: '1012345678', accountName: 'CONG TY ABC', bankName: 'VCB' }
  const order = { orderCode: CODE, amountVnd: 70_000 }
  const links = (bin: string) => bankApps({ ...bank, bin }, order, 'https://gateway.test/topup/x')

  test('each app of the list is complete, and each receiving bank has the code of its own app', () => {
    const { apps, banks } = readBankAppList()
    for (const app of apps) {
      expect(Object.keys(app).sort()).toEqual(['fills', 'id', 'name'])
      expect(app).toMatchObject({
        id: expect.stringMatching(/^[a-z]{2,8}$/),
        name: expect.any(String),
        fills: expect.any(Boolean),
      })
    }
    expect(new Set(apps.map(app => app.id)).size).toBe(apps.length)
    // Our names must agree with an independent table of banks.
    const names = new Map(Object.values(BanksObject).map(each => [each.bin, each.shortName.replace('OCB Bank', 'OCB')]))
    for (const [bin, code] of Object.entries(banks)) {
      const app = apps.find(({ id }) => id === code)
      expect([bin, names.get(bin)]).toEqual([bin, app?.name ?? expect.any(String)])
    }
  })

  test('apps that can fill in the transfer come first and get its details, the others get none', () => {
    const apps = links(bank.bin)
    const filling = apps.filter(app => app.fills)
    expect(apps.slice(0, filling.length)).toEqual(filling)
    expect(filling.map(app => app.id).sort()).toEqual(['acb', 'bidv', 'icb', 'mb', 'ocb'])
    const url = new URL(apps[0]!.url)
    expect([url.origin + url.pathname, Object.fromEntries(url.searchParams)]).toEqual([
      'https://dl.vietqr.io/pay',
      {
        app: apps[0]!.id,
        ba: '1012345678@vcb',
        am: '70000',
        tn: CODE,
        bn: 'CONG TY ABC',
        url: 'https://gateway.test/topup/x',
      },
    ])
    for (const app of apps.slice(filling.length)) expect(app.url).toBe(`https://dl.vietqr.io/pay?app=${app.id}`)
  })

  test('for a receiving bank that is not in the list, no app gets any details', () => {
    expect(links('999999').filter(app => app.fills || app.url.includes('&'))).toEqual([])
  })
})
