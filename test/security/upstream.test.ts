/** Only the catalogue decides where a call goes, and nothing but the client's body is passed on. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { goodMessage } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

let provider: ScriptedUpstream
/** The server to which a hostile client tries to redirect the call. */
let elsewhere: ScriptedUpstream
let running: TestGateway
let apiKey: string
beforeAll(async () => {
  provider = await startScriptedUpstream(() => goodMessage)
  elsewhere = await startScriptedUpstream(() => goodMessage)
  running = await startTestGateway({ upstreams: { anthropic: { url: provider.url, keys: ['upstream-secret-1'] } } })
  apiKey = (await running.account(10n ** 15n)).apiKey
})
afterAll(async () => {
  await running.close()
  await provider.close()
  await elsewhere.close()
})

const NAMES = [
  'base_url',
  'baseUrl',
  'api_base',
  'host',
  'url',
  'endpoint',
  'provider',
  'proxy',
  'custom_host',
  'api_key',
]
const HEADERS = [
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-original-url',
  'x-rewrite-url',
  'x-base-url',
  'x-custom-host',
  'x-upstream-url',
  'x-target',
  'forwarded',
]

test('no field, header or path of a client changes the provider that is called', async () => {
  const fields = Object.fromEntries(NAMES.map(name => [name, elsewhere.url]))
  const headers = Object.fromEntries(
    HEADERS.map(name => [name, name === 'forwarded' ? `host=${elsewhere.url}` : elsewhere.url]),
  )
  const body = { model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
  const paths = [
    '/v1/messages',
    `/v1/messages?base_url=${elsewhere.url}`,
    `/v1/messages?provider=${encodeURIComponent(elsewhere.url)}`,
  ]
  for (const path of paths) {
    for (const sent of [body, { ...body, ...fields }, { ...body, metadata: fields }, { ...body, extra_body: fields }]) {
      const reply = await fetch(running.url + path, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(sent),
      })
      expect(reply.status).toBe(200)
    }
  }
  const models = [
    `${elsewhere.url}/x`,
    '//evil.example/x',
    '../../v1/models',
    'claude-opus-5@evil.example',
    'claude-opus-5?x=y#z',
  ]
  for (const model of models) {
    const reply = await fetch(`${running.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify({ ...body, model }),
    })
    expect(reply.status).toBeLessThan(500)
  }
  expect(elsewhere.connections).toBe(0)
  expect(provider.requests.length).toBeGreaterThanOrEqual(12)
  for (const { path, headers: got, method } of provider.requests) {
    expect([method, path]).toEqual(['POST', '/v1/messages'])
    expect(got.host).toBe(new URL(provider.url).host)
    expect(Object.keys(got).filter(name => HEADERS.includes(name))).toEqual([])
    expect(JSON.stringify(got)).not.toContain(apiKey)
  }
})

test('a request target with a host, even another one, is served here or refused', async () => {
  const { port, hostname } = new URL(running.url)
  const { connect } = await import('node:net')
  for (const line of [
    `GET ${elsewhere.url}/v1/models`,
    `CONNECT ${new URL(elsewhere.url).host}`,
    'GET //evil.example/v1/models',
  ]) {
    const answer = await new Promise<string>(resolve => {
      let text = ''
      const socket = connect(Number(port), hostname, () =>
        socket.write(`${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
      )
      socket.on('data', chunk => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.on('error', () => {})
    })
    expect(answer).not.toMatch(/^HTTP\/1\.1 (2|5)/)
  }
  expect(elsewhere.connections).toBe(0)
})
