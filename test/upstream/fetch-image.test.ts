/** Image URLs from clients never lead to a connection inside the network, and no outside server can stall the gateway. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Agent, errors } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createImageFetcher, type ImageFetcher, type ImageFetchOptions } from '../../src/upstream/fetch-image.ts'
import { isPublicAddress } from '../../src/upstream/public-address.ts'
import { HOSTILE_HOSTS } from '../support/hostile-hosts.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)
const BYTES_MAX = 64 * 1024

/** A server inside the network: the gateway must never connect to it. */
let canary: TcpServer
let canaryHits = 0
let canaryPort = 0
/** A server outside the network, simulated on another loopback address that the tests declare public. */
let outside: Server
let outsidePort = 0
let answer: (request: IncomingMessage, response: ServerResponse) => void
let requests: IncomingMessage['headers'][] = []
const OUTSIDE = '127.0.0.2'
const fetchers: ImageFetcher[] = []

beforeAll(async () => {
  canary = createTcpServer(socket => {
    canaryHits++
    socket.destroy()
  })
  await new Promise<void>(resolve => canary.listen({ port: 0, host: '::' }, resolve))
  canaryPort = (canary.address() as AddressInfo).port
  outside = createServer((request, response) => {
    requests.push(request.headers)
    answer(request, response)
  })
  // The canary listens on its port on every address of this machine, so this server needs a different port.
  await new Promise<void>(resolve => outside.listen(0, OUTSIDE, resolve))
  outsidePort = (outside.address() as AddressInfo).port
})
afterEach(async () => {
  requests = []
  await Promise.all(fetchers.splice(0).map(fetcher => fetcher.close()))
})
afterAll(() => {
  canary.close()
  outside.closeAllConnections()
  outside.close()
})

function makeFetcher(options: Partial<ImageFetchOptions> = {}): ImageFetcher {
  const fetcher = createImageFetcher({
    bytesMax: BYTES_MAX,
    timeoutMs: 5_000,
    redirectsMax: 3,
    parallelMax: 8,
    ports: [80, 443, canaryPort, outsidePort],
    isAllowed: address => address === OUTSIDE || isPublicAddress(address),
    ...options,
  })
  fetchers.push(fetcher)
  return fetcher
}

const call = {
  field: 'image_url',
  accountId: 1,
  signal: new AbortController().signal,
  budget: { bytesLeft: 1e9 },
  reserve: () => {},
}
const attempt = (url: string, options: Partial<ImageFetchOptions> = {}) => makeFetcher(options).fetch(url, call)

test.each(HOSTILE_HOSTS)('refuses the host %s without a connection', async host => {
  for (const scheme of ['http', 'https']) {
    const refused = attempt(`${scheme}://${host}:${canaryPort}/a.png`)
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^image_url: the address is not public/),
    })
  }
  expect(canaryHits).toBe(0)
})

test('refuses names of this machine, whether or not they can be resolved', async () => {
  for (const host of ['localhost.', 'ip6-localhost', 'sub.localhost']) {
    await expect(attempt(`http://${host}:${canaryPort}/a.png`)).rejects.toMatchObject({ code: 'invalid_request' })
  }
  expect(canaryHits).toBe(0)
})

test.each([
  ['a file', 'file:///etc/passwd', /only http and https/],
  ['another scheme', 'gopher://127.0.0.1:6379/_INFO', /only http and https/],
  ['FTP', 'ftp://127.0.0.1/a.png', /only http and https/],
  ['a data URL', 'data:image/png;base64,AAAA', /only http and https/],
  ['credentials', 'http://user:secret@example.com/a.png', /with credentials/],
  ['a host hidden after credentials', 'http://example.com@127.0.0.1/a.png', /with credentials/],
  ['a port of another service', 'http://93.184.216.34:22/a.png', /only ports 80 and 443/],
  ['an incomplete URL', 'http://', /the URL is invalid/],
  ['a bad host', 'http://exa mple/', /the URL is invalid/],
  ['a bad address', 'http://256.256.256.256/', /the URL is invalid/],
  ['a very long URL', `http://93.184.216.34/${'模'.repeat(9_000)}`, /the URL is longer than 8000 characters/],
])('refuses %s', async (_name, url, message) => {
  await expect(attempt(url)).rejects.toMatchObject({ message: expect.stringMatching(message) })
  expect(canaryHits).toBe(0)
})

test.each([
  ['a private address', ['127.0.0.1']],
  ['a private address among public ones', ['93.184.216.34', '127.0.0.1']],
  ['a mapped address', ['::ffff:127.0.0.1']],
  ['a NAT64 address', ['64:ff9b::7f00:1']],
  ['a cloud metadata address', ['169.254.169.254']],
  ['no address at all', []],
])('refuses a name that resolves to %s', async (_name, addresses) => {
  const refused = attempt(`http://inside.test:${canaryPort}/a.png`, { resolve: async () => addresses })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('not public') })
  expect(canaryHits).toBe(0)
})

test('connects to the address that was checked: a name that later resolves differently gains nothing', async () => {
  const turns = [[OUTSIDE], ['127.0.0.1']]
  let lookups = 0
  const resolve = async () => turns[lookups++] ?? ['127.0.0.1']
  answer = (_request, response) =>
    response.writeHead(302, { location: `http://rebound.test:${canaryPort}/b.png`, connection: 'close' }).end()
  const refused = attempt(`http://rebound.test:${outsidePort}/a.png`, { resolve })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('not public') })
  expect([lookups, requests.length, canaryHits]).toEqual([2, 1, 0])
})

test('no host is remembered whose image did not arrive in time', async () => {
  const dispatch = vi.spyOn(Agent.prototype, 'dispatch')
  answer = () => {}
  const fetcher = makeFetcher({ timeoutMs: 100, resolve: async () => [OUTSIDE] })
  const late = Array.from({ length: 4 }, (_, number) => fetcher.fetch(`http://h${number}.test:${outsidePort}/`, call))
  for (const refused of late)
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('did not arrive within') })
  const agents = new Set(dispatch.mock.contexts as Agent[])
  dispatch.mockRestore()
  expect(agents.size).toBeGreaterThan(0)
  for (const agent of agents) await expect.poll(() => Object.keys(agent.stats), { timeout: 5_000 }).toEqual([])
})

test('a server that sends nothing but interim replies is given up', async () => {
  let isClosed = false
  answer = ({ socket }) => {
    socket.on('close', () => {
      isClosed = true
    })
    socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000))
  }
  const refused = attempt(`http://${OUTSIDE}:${outsidePort}/a.png`, { timeoutMs: 60_000 })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('could not be fetched') })
  await expect.poll(() => isClosed).toBe(true)
})

test('an image in chunks of one byte is a few objects in memory', async () => {
  const image = Buffer.concat([PNG, Buffer.alloc(20_000)])
  const chunks = [...image].map(byte => `1\r\n${String.fromCharCode(byte)}\r\n`).join('')
  // Node itself would join the chunks.
  answer = ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    socket.end(`${chunks}0\r\n\r\n`, 'latin1')
  }
  const concat = vi.spyOn(Buffer, 'concat')
  const { bytes } = await attempt(`http://outside.test:${outsidePort}/a.png`, { resolve: async () => [OUTSIDE] })
  const longest = Math.max(...concat.mock.calls.map(([parts]) => parts.length))
  concat.mockRestore()
  expect(bytes.equals(image)).toBe(true)
  expect(longest).toBeLessThan(50)
})

test('no more than the first headers are read of a server that sends headers for ever', async () => {
  const { UndiciError } = errors
  const parent = Object.getPrototypeOf(UndiciError)
  let created = 0
  const counted = class extends parent {
    constructor(message: string) {
      super(message)
      created++
    }
  }
  answer = ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\n${'a:b\r\n'.repeat(20_000)}`)
  Object.setPrototypeOf(UndiciError, counted)
  const refused = attempt(`http://outside.test:${outsidePort}/a.png`, { resolve: async () => [OUTSIDE] })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('could not be fetched') })
  Object.setPrototypeOf(UndiciError, parent)
  expect(created).toBeLessThan(10)
})

test('fetches an image, asks for it uncompressed, and follows three redirects', async () => {
  let redirects = 0
  answer = (_request, response) => {
    if (redirects++ < 3) response.writeHead(redirects === 1 ? 301 : 307, { location: `/step-${redirects}` }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(PNG)
  }
  const image = await attempt(`http://${OUTSIDE}:${outsidePort}/a`)
  expect(image).toEqual({ bytes: PNG, mediaType: 'image/png' })
  expect(requests).toHaveLength(4)
  expect(requests[0]).toMatchObject({ 'accept-encoding': 'identity' })
  expect(requests[0]?.cookie ?? requests[0]?.authorization).toBeUndefined()
})

test.each([
  ['to the internal network', () => `http://127.0.0.1:${canaryPort}/`, /not public/],
  ['to metadata', () => 'http://169.254.169.254/latest/meta-data/', /not public/],
  ['to a file', () => 'file:///etc/passwd', /only http and https/],
  ['in a loop', () => '/again', /more than 3 times/],
])('refuses a redirect %s', async (_name, location, message) => {
  answer = (_request, response) => response.writeHead(302, { location: location() }).end('moved')
  const refused = attempt(`http://${OUTSIDE}:${outsidePort}/a.png`)
  await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(message) })
  expect(requests.length).toBeLessThanOrEqual(4)
  expect(canaryHits).toBe(0)
})

/** Sends data until the other side closes the connection. */
function endless(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384, PNG))) {}
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

test.each<[string, (response: ServerResponse) => void, string, RegExp]>([
  ['an endless body', endless, 'request_too_large', /larger than/],
  [
    'a body that is declared too large',
    response => void response.writeHead(200, { 'content-length': String(BYTES_MAX + 1) }).write(PNG),
    'request_too_large',
    /larger than/,
  ],
  ['a web page', response => void response.end('<html>'), 'invalid_request', /a PNG, JPEG, WebP or GIF/],
  ['an empty body', response => void response.end(), 'invalid_request', /a PNG/],
  [
    'a compressed body',
    response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(PNG)),
    'invalid_request',
    /compressed/,
  ],
  ['an error', response => void response.writeHead(404).end(PNG), 'invalid_request', /answered 404/],
  ['a cut connection', response => void response.destroy(), 'invalid_request', /could not be fetched/],
  [
    'a body that is cut off',
    response => {
      response.writeHead(200, { 'content-length': '1000' }).write(PNG, () => response.destroy())
    },
    'invalid_request',
    /could not be fetched/,
  ],
])('refuses %s', async (_name, behaviour, code, message) => {
  answer = (_request, response) => behaviour(response)
  const refused = attempt(`http://${OUTSIDE}:${outsidePort}/a.png`)
  await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
})

test.each<[string, (response: ServerResponse) => void]>([
  ['never answers', () => {}],
  ['never ends', response => void response.write(PNG)],
  ['drips', response => void setInterval(() => response.write('x'), 20).unref()],
])('gives up on a server that %s', async (_name, behaviour) => {
  answer = (_request, response) => behaviour(response)
  const refused = attempt(`http://${OUTSIDE}:${outsidePort}/a.png`, { timeoutMs: 200 })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('did not arrive within 0.2 s') })
})

test('stops when the call is aborted, and respects its limit of concurrent fetches', async () => {
  const arrived = Promise.withResolvers<void>()
  answer = () => arrived.resolve()
  const fetcher = makeFetcher({ parallelMax: 1 })
  const leaving = new AbortController()
  const url = `http://${OUTSIDE}:${outsidePort}/a.png`
  const first = fetcher.fetch(url, { ...call, signal: leaving.signal })
  await arrived.promise
  await expect(fetcher.fetch(url, call)).rejects.toMatchObject({ code: 'rate_limited' })
  leaving.abort()
  await expect(first).rejects.toMatchObject({ code: 'invalid_request' })
  answer = (_request, response) => response.end(PNG)
  expect((await fetcher.fetch(url, call)).mediaType).toBe('image/png')
})

test('one account with slow images leaves half of the concurrent fetches to others', async () => {
  let isSlow = true
  answer = (_request, response) => {
    if (!isSlow) response.end(PNG)
  }
  const fetcher = makeFetcher({ parallelMax: 4 })
  const leaving = new AbortController()
  const url = `http://${OUTSIDE}:${outsidePort}/a.png`
  const slow = [1, 2].map(() => fetcher.fetch(url, { ...call, signal: leaving.signal }))
  await expect.poll(() => requests.length).toBe(2)
  await expect(fetcher.fetch(url, call)).rejects.toMatchObject({ code: 'rate_limited' })
  isSlow = false
  expect((await fetcher.fetch(url, { ...call, accountId: 2 })).mediaType).toBe('image/png')
  leaving.abort()
  await Promise.allSettled(slow)
  expect((await fetcher.fetch(url, call)).mediaType).toBe('image/png')
})

test('tells public addresses from all others', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001::1']) {
    expect(isPublicAddress(address), address).toBe(true)
  }
  for (const address of ['', 'x', '127.1', '1', '0x1.1.1.1', '::ffff:8.8.8.8', '64:ff9b::808:808', '4000::1']) {
    expect(isPublicAddress(address), address).toBe(false)
  }
})
