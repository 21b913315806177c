/** The documentation of environment variables names exactly those that the gateway reads. */

import { expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { ENVIRONMENT } from '../../src/app/environment.ts'
import { LIMITS, limitVariable } from '../../src/app/limits.ts'

/** Variables that only the supervisor sets, for its workers. */
const INTERNAL = ['GATEWAY_WORKER']

/** The names of the variables that `readConfig` reads. */
function namesRead(environment: Record<string, string>): Set<string> {
  const read = new Set<string>()
  const watched = new Proxy(environment, {
    get(target, name) {
      read.add(String(name).replace(/^UPSTREAM_ONE_/, 'UPSTREAM_<ID>_'))
      return Reflect.get(target, name)
    },
  })
  readConfig({ environment: watched, upstreamIds: ['one'] })
  return read
}

test('every variable that is read is documented, and every documented one is read', () => {
  const read = namesRead({
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    METRICS_PORT: '9100',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  })
  const described = ENVIRONMENT.flatMap(({ variables }) => variables.map(({ name }) => name))
  const limits = Object.keys(LIMITS).map(limitVariable)
  expect([...described, ...limits, ...INTERNAL].sort()).toEqual([...read].sort())
})

test('a mistyped limit prevents the start', () => {
  expect(() => readConfig({ environment: { LIMIT_BODY_BYTE_MAX: '1' }, upstreamIds: [] })).toThrow(
    'LIMIT_BODY_BYTE_MAX is not read by this gateway; docs/configuration.md lists every LIMIT_…',
  )
})

test.each(['10.0.0.5', '192.168.0.0/16', '::1', 'fd12::/48', '10.0.0.5, fd12::1'])('trusts the proxies %s', text => {
  const { trustedProxies } = readConfig({ environment: { TRUSTED_PROXIES: text }, upstreamIds: [] })
  expect(trustedProxies).toEqual(text.split(/, */))
})

test.each(['10.0.0.0/33', 'abc', '10', '10/8', '1.2.3', 'fd12::/129', 'proxy.example'])(
  'refuses the proxies %s',
  text => {
    expect(() => readConfig({ environment: { TRUSTED_PROXIES: text }, upstreamIds: [] })).toThrow('TRUSTED_PROXIES')
  },
)

test.each([
  'https://api.example.com',
  'https://api.example.com/',
  'http://10.0.0.5:8080',
  'https://API.example.com:443',
])('takes the public address %s', text => {
  expect(readConfig({ environment: { PUBLIC_URL: text }, upstreamIds: [] }).publicUrl).toBe(text.replace(/\/$/, ''))
})

test.each([
  'https://example.com/v1',
  'https://example.com/gateway/',
  'https://example.com?a=b',
  'https://me:x@example.com',
])('refuses the public address %s, below which there are no pages', text => {
  const read = () => readConfig({ environment: { PUBLIC_URL: text }, upstreamIds: [] })
  expect(read).toThrow('PUBLIC_URL has more than a host and a port')
})
