/** Methods that no route serves: the error says which ones the path has, or that there is no such path. */

import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway({ environment: { LIMIT_LINGER_IDLE_MS: '100' } })
})
afterAll(() => running.close())

/** Sends the request's head, and a body if it announces one. Returns the status, the headers and the error. */
function send(line: string, headers: readonly string[] = []) {
  const { port, hostname } = new URL(running.url)
  return new Promise<{ status: number; allow: string | undefined; error: unknown }>((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname)
    const body = headers.includes('content-length: 2') ? '{}' : ''
    socket.write(`${[`${line} HTTP/1.1`, 'host: x', 'connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`)
    socket.on('data', data => {
      received += data
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n')
      resolve({
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
        allow: /^allow: (.*)$/im.exec(head)?.[1],
        error: body === '' ? null : JSON.parse(body).error,
      })
    })
  })
}

const BODIES: readonly (readonly string[])[] = [
  [],
  ['content-length: 2'],
  ['content-length: 2', 'content-type: application/json'],
  ['content-length: 2', 'content-type: application /json'],
  ['content-type: application/json'],
]

test.each(METHODS.filter(method => !['GET', 'HEAD', 'POST', 'CONNECT'].includes(method)))(
  '%s is refused with the methods of the path, whatever comes with it',
  async method => {
    for (const headers of BODIES) {
      for (const [path, allow] of [
        ['/v1/messages', 'POST'],
        ['/v1/models', 'GET, HEAD'],
      ]) {
        const message = `${path} supports ${allow}, not ${method}.`
        const { status, error, ...reply } = await send(`${method} ${path}`, headers)
        expect([headers, status, error, reply.allow]).toMatchObject([headers, 405, { message }, allow])
      }
      const { status, error } = await send(`${method} /v1/nothing`, headers)
      const message = expect.stringContaining(`There is no ${method} /v1/nothing.`)
      expect([headers, status, error]).toMatchObject([headers, 404, { type: 'not_found_error', message }])
    }
  },
)

test('CONNECT is refused, whatever the host', async () => {
  for (const target of ['example.com:443', 'x:1']) {
    const { status, allow, error } = await send(`CONNECT ${target}`)
    expect([status, allow, error]).toMatchObject([
      405,
      'GET, HEAD, POST',
      { message: expect.stringContaining('not a proxy') },
    ])
  }
})

test('a wrong path is a 404 that names the right one, also with a content type that cannot be read or a body that is too long', async () => {
  const message = expect.stringContaining('http://gateway.test/v1/messages')
  for (const headers of [...BODIES, ['content-length: 31457280']]) {
    const { status, error } = await send('POST /v1/v1/messages', headers)
    expect([headers, status, error]).toMatchObject([headers, 404, { type: 'not_found_error', message }])
  }
})

test('targets that are no path are no internal error', async () => {
  for (const target of ['*', 'http://x/nothing', 'x:y', '/%', '/a%zz?b']) {
    for (const method of ['GET', 'OPTIONS', 'POST', 'QUERY', 'PROPFIND']) {
      const { status } = await send(`${method} ${target}`)
      expect([method, target, [200, 400, 404, 405].includes(status)]).toEqual([method, target, true])
    }
  }
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
})
