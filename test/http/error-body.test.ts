/** What the table of errors promises of the headers that clients act on. */

import { expect, test } from 'vitest'
import { ERRORS, type ErrorCode, GatewayError } from '../../src/errors.ts'
import { errorHeaders } from '../../src/http/error-body.ts'

const codes = Object.keys(ERRORS) as ErrorCode[]

test('every 429 says when to come again, even where no stage knows', () => {
  const limited = codes.filter(code => ERRORS[code].status === 429)
  expect(limited.length).toBeGreaterThanOrEqual(3)
  for (const code of limited) {
    expect([code, errorHeaders(new GatewayError(code))['retry-after']]).toEqual([
      code,
      expect.stringMatching(/^[1-9]\d*$/),
    ])
    expect(errorHeaders(new GatewayError(code, { retryAfterSeconds: 7 }))['retry-after']).toBe('7')
  }
})

test('no error tells clients to wait for up to a minute and not to try again', () => {
  for (const code of codes) {
    for (const retryAfterSeconds of [1, 60]) {
      expect(errorHeaders(new GatewayError(code, { retryAfterSeconds }))).not.toHaveProperty('x-should-retry')
    }
  }
  const long = errorHeaders(new GatewayError('maintenance', { retryAfterSeconds: 61 }))
  expect(long).toMatchObject({ 'retry-after': '61', 'x-should-retry': 'false' })
})
