import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/lib/database.ts'
import { readDatabaseAddress } from '../../src/lib/database-address.ts'
import { CERTIFICATE } from '../support/certificate.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'

const database = await createTestDatabase({ migrated: false })
const folder = mkdtempSync(join(tmpdir(), 'gateway-address-'))
const root = join(folder, 'root.pem')
writeFileSync(root, CERTIFICATE)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

const { username, password, pathname } = new URL(database.url)

/** Asks through a proxy; `place` is what stands between the credentials and the database's name, `query` what follows it. */
async function ask(place: string, query = ''): Promise<unknown> {
  const url = `postgres://${username}:${password}@${place}${pathname}${query}`
  const sql = openDatabase({ url, name: 'address', connectionsMax: 1 })
  const answer = await sql.unsafe('select current_database() as name').catch(error => error.code)
  await sql.end({ timeout: 1 })
  return answer[0]?.name === pathname.slice(1) ? 'connected' : answer
}

test('leads to an IPv6 address', async () => {
  const proxy = await startPostgresProxy(database.url, { listen: { host: '::1', port: 0 } })
  expect(await ask(`[::1]:${proxy.port}`)).toBe('connected')
  await proxy.close()
})

test('leads to a Unix socket, in each form that Postgres’ tools accept', async () => {
  const proxy = await startPostgresProxy(database.url, { listen: { path: join(folder, '.s.PGSQL.5432') } })
  const encoded = encodeURIComponent(folder)
  expect(await ask('', `?host=${folder}`)).toBe('connected')
  expect(await ask('localhost', `?host=${encoded}&sslmode=require`)).toBe('connected')
  expect(await ask(encoded)).toBe('connected')
  expect(await ask(encoded, '?port=5433')).toBe('ENOENT')
  await proxy.close()
})

test('uses TLS as sslmode says, and checks names and addresses against the certificate', async () => {
  const proxy = await startPostgresProxy(database.url, { listen: { host: 'localhost', port: 0 }, tls: true })
  const other = await startPostgresProxy(database.url, { listen: { host: '127.0.0.2', port: 0 }, tls: true })
  const places = [`localhost:${proxy.port}`, `127.0.0.2:${other.port}`]
  const answersOf = (query: string) => Promise.all(places.map(place => ask(place, query)))
  const both = (answer: string) => [answer, answer]
  expect(await answersOf('')).toEqual(both('connected'))
  expect(await answersOf('?sslmode=require')).toEqual(both('connected'))
  expect(await answersOf('?sslmode=verify-ca')).toEqual(both('DEPTH_ZERO_SELF_SIGNED_CERT'))
  expect(await answersOf('?sslmode=verify-full&sslrootcert=system')).toEqual(both('DEPTH_ZERO_SELF_SIGNED_CERT'))
  expect(await answersOf(`?sslmode=verify-ca&sslrootcert=${root}`)).toEqual(both('connected'))
  expect(await answersOf(`?sslmode=require&sslrootcert=${root}`)).toEqual(both('connected'))
  // The certificate is for localhost, 127.0.0.1 and ::1.
  const strict = ['connected', 'ERR_TLS_CERT_ALTNAME_INVALID']
  expect(await answersOf(`?sslmode=verify-full&sslrootcert=${root}`)).toEqual(strict)
  expect(await answersOf(`?sslrootcert=${root}`)).toEqual(strict)
  await Promise.all([proxy.close(), other.close()])
})

test('without TLS at the server, sslmode=prefer continues without, and require does not', async () => {
  const proxy = await startPostgresProxy(database.url, { listen: { host: '127.0.0.1', port: 0 } })
  const place = `127.0.0.1:${proxy.port}`
  expect(await ask(place, '?sslmode=prefer')).toBe('connected')
  expect(await ask(place, '?sslmode=require')).not.toBe('connected')
  await proxy.close()
})

test('reads user, password and name as they were before they were encoded', () => {
  expect(readDatabaseAddress('postgres://us%40er:p%40s%3Aw%2Fo%3Fr%23d%25,@host/na%2Fme?search_path=a')).toEqual({
    host: ['host'],
    port: [5432],
    database: 'na/me',
    username: 'us@er',
    password: 'p@s:w/o?r#d%,',
    ssl: false,
    session: { search_path: 'a' },
    place: 'host:5432',
  })
})

test.each([
  ['mysql://host/name', 'is not a URL of Postgres'],
  ['postgres://user:p/secret@host/name', 'is not a URL'],
  ['postgres://user:12#secret@host/name', 'is cut off; in user and password, percent-encode'],
  ['postgres://user:12?secret@host/name', 'is cut off; in user and password, percent-encode'],
  ['postgres://user:secret%zz@host/name', 'has a % that encodes nothing'],
  ['postgres://user:secret@one,two:5432/name', 'names several hosts'],
  ['postgres://user:secret@one:1,two:2/name', 'names several hosts'],
  ['postgres:///name?host=one,two', 'names several hosts'],
  ['postgres://host/name?sslmode=maybe', 'has an unknown sslmode'],
  ['postgres://host/name?sslrootcert=/nowhere/root.pem', 'names a file in sslrootcert that cannot be read: ENOENT'],
])('refuses %s without repeating it', (url, message) => {
  const read = () => readDatabaseAddress(url)
  expect(read).toThrow(message)
  expect(read).not.toThrow('secret')
})
