import fc from 'fast-check'
import { countTokens as countByOracle } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { countTokens, countTokensInTurns, TOKEN_LIMITS, tokenPieces } from '../../src/lib/tokens.ts'

const oracle = (text: string) => countByOracle(text, { disallowedSpecial: new Set() })

test.each([
  ['nothing', ''],
  ['English', "The quick brown fox doesn't jump; it's 12345 o'clock, WE'LL SEE!  And   then...\n\n\tdone /\n/ x"],
  ['Vietnamese', 'Xin chào các bạn, hôm nay trời ĐẸP quá — chúng ta đi uống cà phê nhé? Giá 50.000₫.'],
  ['Vietnamese with combining marks', 'Xin chào các bạn, trời đẹp quá'.normalize('NFD')],
  ['code', 'function f(x: number[]) {\r\n  return x?.map(y => y ** 2) // squares\r\n}\r\n'],
  ['JSON', JSON.stringify({ a: [1, 2.5, null, true], 'b-c': { d: 'é"\\n' } }, null, 2)],
  ['scripts of the world', '漢字かな交じり文 مرحبا بالعالم नमस्ते दुनिया 안녕하세요 Привет, МИР! ǅ ʰʲ ʼn ⅷ ²³'],
  ['emoji', '👩‍👩‍👧‍👦 family 🇻🇳 flag 🏳️‍🌈 ok 👍🏽!'],
  ['a lone surrogate', 'a\ud800b'],
  ['white space of all kinds', 'a \u00a0\u2003 b\u2028c d\r\r\n \n  '],
  ['text that looks like a special token', '<|endoftext|> and <|im_start|>'],
])('counts %s as the reference tokenizer does', (_name, text) => {
  expect(countTokens(text)).toBe(oracle(text))
})

test('counts any text of short words as the reference tokenizer does', () => {
  const word = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 6 }))
  const text = fc.array(word, { maxLength: 12 }).map(words => words.join(' ').toWellFormed().replaceAll('\ufeff', ''))
  fc.assert(
    fc.property(text, sample => countTokens(sample) === oracle(sample)),
    { numRuns: 200 },
  )
})

test('counts a byte order mark as one token, which the reference drops', () => {
  expect([countTokens('\ufeff'), oracle('\ufeff')]).toEqual([1, 2])
})

test('the pieces add up to the text, and their counts to its count', () => {
  const text = `Xin chào!\n\n${'a'.repeat(1_000)} 1234567 ${'漢'.repeat(200)} end`
  const pieces = [...tokenPieces(text)]
  expect(pieces.map(piece => piece.text).join('')).toBe(text)
  expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBe(countTokens(text))
  expect(Math.max(...pieces.map(piece => Buffer.byteLength(piece.text)))).toBe(TOKEN_LIMITS.pieceBytesMax)
})

// The counter cannot split these texts into words. If its work grew with the square of their length, it would take minutes.
test.each([
  ['one letter', 'a'],
  ['spaces', ' '],
  ['line breaks', ' \n'],
  ['ideographs', '漢'],
  ['marks', 'a\u0301\u0302'],
  ['signs', '!'],
])('counts megabytes of %s without a break in linear time', (_name, unit) => {
  const short = countTokens(unit.repeat(100_000 / unit.length))
  const long = countTokens(unit.repeat(4_000_000 / unit.length))
  expect(Math.abs(long / short / 40 - 1)).toBeLessThan(0.03)
})

test('estimates a very long text within two percent', () => {
  const page = 'The quick brown fox jumps over the lazy dog. Con cáo nâu nhanh nhẹn nhảy qua con chó lười. '.repeat(50)
  const pages = Array.from({ length: 300 }, (_, index) => `${page}\n${index}`)
  const exact = pages.reduce((sum, text) => sum + countTokens(`${text}\n`), 0)
  const long = pages.join('\n')
  expect(long.length).toBeGreaterThan(TOKEN_LIMITS.exactCharactersMax * 2)
  expect(Math.abs(countTokens(long) / exact - 1)).toBeLessThan(0.02)
})

test.each([
  ['a text that is counted in full', 400_000],
  ['a text that is sampled', 2_000_000],
])('leaves the event loop to others while it counts %s of the slowest characters', async (_, length) => {
  const text = Array.from({ length }, (_, index) => String.fromCharCode(0x4e00 + ((index * 7919) % 20_000))).join('')
  let turns = 0
  let isCounted = false
  const count = () => {
    turns++
    if (!isCounted) setImmediate(count)
  }
  setImmediate(count)
  const tokens = await countTokensInTurns(text)
  isCounted = true
  expect(tokens).toBe(countTokens(text))
  expect(turns).toBeGreaterThan(5)
})
