/** A name whose name servers are silent holds up nobody who asks for another name. */

import { createSocket, type Socket } from 'node:dgram'
import type { ResolverOptions } from 'node:dns'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import { knownAddresses, publicAddresses } from '../../src/upstream/addresses.ts'
import { createImageFetcher } from '../../src/upstream/fetch-image.ts'
import { createRegistry, type ReachableUpstream } from '../../src/upstream/registry.ts'
import { replaceDns } from '../support/dns.ts'

const A = 1
const AAAA = 28
const NOT_FOUND = 3
/** Addresses by name and type of record. Names that are missing do not exist. */
const RECORDS: Readonly<Record<string, Readonly<Record<number, Buffer>>>> = {
  'both.test': { [A]: Buffer.from([192, 0, 2, 1]), [AAAA]: Buffer.from('20010db8000000000000000000000001', 'hex') },
  'old.test': { [A]: Buffer.from([192, 0, 2, 2]) },
}
let nameServer: Socket
let asked: string[]
let restoreDns: () => void
/** The lookup of the operating system, for which the threads of the process are too few. */
const lookup = vi.fn()

beforeAll(async () => {
  nameServer = createSocket('udp4', (query, from) => {
    const { name, type, end } = questionOf(query)
    asked.push(name)
    const records = RECORDS[name]
    const address = records?.[type]
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180 + (records === undefined ? NOT_FOUND : 0), 2)
    header.writeUInt32BE(address === undefined ? 0 : 1 << 16, 6)
    header.writeUInt16BE(0, 10)
    const record = address && Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 9, 0, address.length, ...address])
    nameServer.send([header, query.subarray(12, end), record ?? ''], from.port, from.address)
  })
  nameServer.bind(0, '127.0.0.1')
  await once(nameServer, 'listening')
  const server = `127.0.0.1:${nameServer.address().port}`
  class Resolver extends dns.Resolver {
    constructor(options: ResolverOptions) {
      super(options)
      this.setServers([server])
    }
  }
  restoreDns = replaceDns({ lookup, Resolver })
})
beforeEach(() => {
  asked = []
  lookup.mockReset()
})
afterAll(() => {
  restoreDns()
  nameServer.close()
})

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

test('a name in a URL from a client is asked of DNS, not of the operating system', async () => {
  const images = createImageFetcher({
    bytesMax: 1_000,
    timeoutMs: 10_000,
    redirectsMax: 0,
    parallelMax: 8,
    ports: [80],
  })
  const { signal } = new AbortController()
  const call = { field: 'image', accountId: 1, signal, budget: { bytesLeft: 1_000 }, reserve() {} }
  await expect(images.fetch('http://both.test/a.png', call)).rejects.toThrow('the address is not public')
  expect(asked).toEqual(['both.test', 'both.test'])
  expect(lookup).not.toHaveBeenCalled()
  await images.close()
})

test('DNS is asked for addresses of both kinds, and one is enough', async () => {
  expect(await publicAddresses('both.test')).toEqual(['192.0.2.1', '2001:db8::1'])
  expect(await publicAddresses('old.test')).toEqual(['192.0.2.2'])
  await expect(publicAddresses('missing.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  expect(lookup).not.toHaveBeenCalled()
})

test('in private networks, names that are not in DNS are asked of the operating system', async () => {
  lookup.mockResolvedValue([{ address: '10.20.0.7', family: 4 }])
  expect(await knownAddresses('old.test')).toEqual(['192.0.2.2'])
  expect(lookup).not.toHaveBeenCalled()
  expect(await knownAddresses('missing.test')).toEqual(['10.20.0.7'])
})

test('calls to a provider share the lookup of its name while it takes long, and the next ones look it up again', async () => {
  const server = createServer((_request, response) => response.end('fine')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const registry = createRegistry({
    upstreams: TABLES.upstreams,
    environment: () => ({ baseUrl: `http://provider.test:${port}`, apiKeys: ['key'] }),
    aws: { secret: null, region: null },
    sandboxUrl: null,
    connectionsMax: 10,
    nowMs: () => performance.now(),
  })
  const [one, other] = TABLES.upstreams.map(({ id }) => registry.find(id)) as [ReachableUpstream, ReachableUpstream]
  const ask = async ({ connections }: ReachableUpstream) =>
    (await connections.take().client.request({ method: 'GET', path: '/' })).body.text()
  let answer: (found: object[]) => void = () => {}
  lookup.mockImplementationOnce(() => new Promise(resolve => (answer = resolve)))
  const answers = [ask(one), ask(one), ask(other), ask(one)]
  await expect.poll(() => lookup.mock.calls).toEqual([['provider.test', { all: true }]])
  answer([{ address: '127.0.0.1', family: 4 }])
  expect(await Promise.all(answers)).toEqual(['fine', 'fine', 'fine', 'fine'])
  expect(lookup).toHaveBeenCalledTimes(1)

  lookup.mockRejectedValueOnce(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  await expect(ask(one)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  expect(lookup).toHaveBeenCalledTimes(2)
  await registry.close()
  server.close()
})
