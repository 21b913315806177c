/** Who may submit forms, which requests come from this machine, and where a sign-in may lead. */

import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { comesFromUs, isLocal, localPath, splitTarget } from '../../src/dashboard/guard.ts'

const PROXIED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']
const SITE = { publicUrl: 'https://gateway.test/', production: true }

// biome-ignore format: one case per line
test.each<[string, IncomingHttpHeaders, boolean]>([
  ['its own origin', { origin: 'https://gateway.test' }, true],
  ['its own origin, whatever the browser calls the site', { origin: 'https://gateway.test', 'sec-fetch-site': 'cross-site' }, true],
  ['an origin that begins like ours', { origin: 'https://gateway.test.example.com' }, false],
  ['our host without encryption', { origin: 'http://gateway.test', host: 'gateway.test' }, false],
  ['no origin', {}, false],
  ['no origin, from the same site', { 'sec-fetch-site': 'same-site' }, false],
  ['no origin, typed by hand', { 'sec-fetch-site': 'none' }, false],
  ['no origin, from the same origin', { 'sec-fetch-site': 'same-origin' }, true],
  ['an opaque origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }, false],
])('a form from %s', (_what, headers, isOurs) => {
  expect(comesFromUs({ headers }, SITE)).toBe(isOurs)
})

test('the host that was asked for counts as ours only outside production', () => {
  const headers = { origin: 'http://localhost:8080', host: 'localhost:8080' }
  expect(comesFromUs({ headers }, { ...SITE, production: false })).toBe(true)
  expect(comesFromUs({ headers: { ...headers, host: 'localhost:9090' } }, { ...SITE, production: false })).toBe(false)
  expect(comesFromUs({ headers: { origin: 'http://undefined' } }, { ...SITE, production: false })).toBe(false)
  expect(comesFromUs({ headers }, SITE)).toBe(false)
})

describe('a request is from this machine', () => {
  const from = (remoteAddress: string, headers: object) =>
    isLocal({ headers, socket: { remoteAddress } } as unknown as Parameters<typeof isLocal>[0])

  test.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '127.8.9.1', '[::1]:8080'])('as %s', host => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(from(address, { host })).toBe(true)
  })

  test.each<[string, string, object]>([
    ['whose connection is from elsewhere', '192.0.2.1', { host: 'localhost' }],
    ['under a foreign name that leads here', '127.0.0.1', { host: 'gateway.test' }],
    ['under a name that begins like ours', '127.0.0.1', { host: 'localhost.example.com' }],
    ['without a name', '127.0.0.1', {}],
  ])('but not one %s', (_what, address, headers) => {
    expect(from(address, headers)).toBe(false)
  })

  test.each(PROXIED)('but not one that a proxy forwarded, which %s says', name => {
    expect(from('127.0.0.1', { host: 'localhost', [name]: '127.0.0.1' })).toBe(false)
  })
})

test.each([
  ['/keys?id=7', '/keys?id=7'],
  ['//example.com', '/overview'],
  ['/\\example.com', '/overview'],
  ['/a\\b', '/overview'],
  ['https://example.com', '/overview'],
  ['/\t/example.com', '/overview'],
  ['/keys\r\nset-cookie: a=b', '/overview'],
  ['keys', '/overview'],
  ['', '/overview'],
])('a sign-in that is to lead to %j leads to %j', (asked, path) => {
  expect(localPath(asked)).toBe(path)
})

test('a path begins with one slash, so that a link to it stays here', () => {
  expect(splitTarget('///example.com/a?b=1&c')).toEqual({ path: '/example.com/a', query: 'b=1&c' })
  expect(splitTarget('/a')).toEqual({ path: '/a', query: '' })
})
