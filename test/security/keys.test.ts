/** Hostile API keys: each is refused like any wrong key, and none is mistaken for another. */

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { candidateHashes } from '../../src/accounts/key-secret.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { createAuthenticator } from '../../src/pipeline/authenticate.ts'
import { type GatewayProcess, startProcess } from './process.ts'

let running: GatewayProcess
let apiKey: string
beforeAll(async () => {
  running = await startProcess({ environment: { LOG_LEVEL: 'warn', LIMIT_HEADER_BYTES_MAX: '32768' } })
  apiKey = (await running.account('person@example.com')).apiKey
})
afterAll(() => running.close())

const HOSTILE: readonly [name: string, key: string][] = [
  ['a quote', "' or '1'='1"],
  ['a quote within a key', "sk-svc-' union select key_hash from api_key --"],
  ['a statement of its own', "sk-svc-x'; drop table api_key; --"],
  ['two quotes and a backslash', 'sk-svc-"\\\'"'],
  ['a dollar quote', '$$; select pg_sleep(60) $$'],
  ['a parameter', 'sk-svc-$1'],
  ['wildcards', 'sk-svc-%'],
  ['10 kB', `sk-svc-${'k'.repeat(10_000)}`],
  ['only its prefix', 'sk-svc-'],
  ['letters beyond ASCII', 'sk-svc-khóa😀'],
  ['bytes that are not UTF-8', 'sk-svc-\xff\xfe\xc0\x80'],
  ['a line end and a header', 'sk-svc-a%0d%0ax-api-key: b'],
  ['an object’s own member', '__proto__'],
  ['nothing but a space', ' '],
]

const ROUTES = ['POST /v1/messages', 'POST /v1/messages/count_tokens', 'GET /v1/models', 'POST /v1/audio/speech']

test.each(HOSTILE)('a key with %s is 401 on every route and in both headers', async (_name, key) => {
  const bytes = /^[\0-\xff]*$/.test(key) ? Buffer.from(key, 'latin1') : Buffer.from(key)
  for (const route of ROUTES) {
    for (const header of ['x-api-key: ', 'authorization: Bearer ', 'authorization: ']) {
      const start = `${route} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n${header}`
      const answer = await running.exchange(start, bytes, '\r\n\r\n')
      expect(answer).toMatch(/^HTTP\/1\.1 401 /)
      expect(answer).not.toContain('api_key')
    }
  }
  expect(running.isUp()).toBe(true)
})

test('a key with control characters never becomes a request', async () => {
  for (const control of ['\0', '\x01', '\x7f', '\n', '\r']) {
    const start = 'GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: '
    expect(await running.exchange(start, `a${control}b\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /)
  }
})

test('after all of them the good key works, and a key that differs in its last character alone does not', async () => {
  const models = (key: string) => fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': key } })
  expect((await models(apiKey)).status).toBe(200)
  const last = apiKey.at(-1) === 'A' ? 'B' : 'A'
  for (const wrong of [
    apiKey.slice(0, -1),
    apiKey.slice(0, -1) + last,
    `${apiKey}A`,
    apiKey.toUpperCase(),
    ` ${apiKey}x`,
  ]) {
    expect((await models(wrong)).status).toBe(401)
  }
  // The key cache compares whole keys, so a similar key is refused even if the valid key was used before or after it.
  const call = (key: string) =>
    fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body: '{}' })
  for (const [key, status] of [
    [apiKey, 400],
    [apiKey.slice(0, -1) + last, 401],
    [apiKey, 400],
  ] as const) {
    expect((await call(key)).status).toBe(status)
  }
})

test('two keys with equal first 20 characters are two keys, in memory and in the database', async () => {
  const start = `sk-svc-${'a'.repeat(20)}`
  const keys = [0, 1].map(() => start + randomBytes(24).toString('base64url'))
  const secrets = {
    service: 'svc',
    peppers: parseSecretSet('KEY_PEPPERS', generateSecretSet()),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', generateSecretSet()),
  }
  const hashes = keys.map(key => candidateHashes(secrets, key).map(hash => Buffer.from(hash).toString('hex')))
  expect(hashes.flat()).toHaveLength(2)
  expect(new Set(hashes.flat()).size).toBe(2)
  let looks = 0
  const authenticator = createAuthenticator({
    directory: {
      hashes: key => candidateHashes(secrets, key),
      find: async ([hash]) => {
        looks++
        const index = hashes.findIndex(([own]) => own === Buffer.from(hash as Uint8Array).toString('hex'))
        return {
          accountId: index,
          keyId: index,
          keyHash: hash as Uint8Array,
          state: 'active' as const,
          rateLimitPerMinute: null,
          concurrencyMax: null,
          allowedModels: null,
          walletEmpty: false,
          keysVersion: null,
        }
      },
    },
    cachedMax: 10,
    cachedMs: 60_000,
    nowMs: () => 0,
  })
  for (let turn = 0; turn < 2; turn++) {
    for (const [index, key] of keys.entries()) expect((await authenticator.findCaller([key])).accountId).toBe(index)
  }
  expect(looks).toBe(2)
})
