import { expect, test } from 'vitest'
import { faultText } from '../../src/lib/fault-text.ts'
import { UpstreamFault } from '../../src/upstream/fault.ts'

const SECRET = 'what a client sent'

test('has kind, code, place and causes, and no message', () => {
  const cause = Object.assign(new RangeError(SECRET), { code: '22P02' })
  const text = faultText(new TypeError(`bad ${SECRET}\n    at ${SECRET}`, { cause })) as string
  expect(text).toMatch(/^TypeError\n {4}at .*fault-text\.test\.ts:\d+:\d+\)?\n/)
  expect(text).toMatch(/\nbecause of RangeError 22P02\n {4}at .*fault-text\.test\.ts/)
  expect(text).not.toContain(SECRET)
})

test.each([
  ['a text of ours', 'the stream is empty', 'the stream is empty'],
  ['nothing', undefined, undefined],
  ['something that is not an Error', { prompt: SECRET }, 'thrown value that is not an Error: object'],
  ['a code that is not one', Object.assign(new Error('x'), { code: SECRET, stack: '' }), 'Error'],
  [
    'a stack without its message',
    Object.assign(new Error('x'), { stack: `Error: x\n    at ${SECRET}`, message: 'y' }),
    'Error',
  ],
])('of %s', (_name, fault, text) => {
  expect(faultText(fault)).toBe(text)
})

test('keeps messages that are the gateway’s own', () => {
  expect(faultText(new UpstreamFault('reset', 'ECONNRESET'))).toMatch(/^UpstreamFault: ECONNRESET\n {4}at /)
})
