/** The table of errors and the headers that clients act on. */

import { expect, test } from 'vitest'
import { ERRORS, type ErrorCode, GatewayError } from '../../src/errors.ts'
import { errorBody, errorHeaders } from '../../src/http/error-body.ts'

const codes = Object.keys(ERRORS) as ErrorCode[]

test('every 429 has retry-after, even if no stage sets it', () => {
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

test('no error combines a wait of up to a minute with an instruction not to retry', () => {
  for (const code of codes) {
    for (const retryAfterSeconds of [1, 60]) {
      expect(errorHeaders(new GatewayError(code, { retryAfterSeconds }))).not.toHaveProperty('x-should-retry')
    }
  }
  const long = errorHeaders(new GatewayError('maintenance', { retryAfterSeconds: 61 }))
  expect(long).toMatchObject({ 'retry-after': '61', 'x-should-retry': 'false' })
})

test('names the offending field if a stage knows it', () => {
  const error = new GatewayError('previous_response_not_found', { param: 'previous_response_id' })
  expect(JSON.parse(errorBody(error, 'req_1'))).toEqual({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message:
        'previous_response_id is not supported: this service stores no responses. Send the whole conversation in input.',
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    },
    request_id: 'req_1',
  })
  expect(JSON.parse(errorBody(new GatewayError('internal'), 'req_1'))).toMatchObject({ error: { param: null } })
})

test('repeats no more of a request than fits into a few pages', () => {
  for (const word of ['"', 'x', '😀']) {
    const message = `tools.0.type: the tool ${JSON.stringify(word.repeat(100_000))} is not supported by this model`
    const body = errorBody(new GatewayError('invalid_request', { message }), 'req_1')
    expect(body.length).toBeLessThan(25_000)
    const { error } = JSON.parse(body)
    expect(error.message).toMatch(/^tools\.0\.type: the tool .*…$/su)
    expect(error.message.isWellFormed()).toBe(true)
  }
})
