/**
 * Reads the address of a Postgres in the forms that its own tools understand. The driver knows fewer: it takes an IPv6 address for
 * a list of hosts, and sends certificates' paths and the folder of a Unix socket to Postgres as settings.
 */

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

/** In the driver's words. */
export interface DatabaseAddress {
  readonly host: readonly [string]
  readonly port: readonly [number]
  /** The Unix socket; absent for TCP. */
  readonly path?: string
  readonly database?: string
  readonly username?: string
  readonly password?: string
  readonly ssl: false | 'prefer' | ConnectionOptions
  /** Further parameters, such as `options`, which Postgres checks. */
  readonly session: Readonly<Record<string, string>>
  /** Host and port, or the Unix socket, without credentials. */
  readonly place: string
}

const FORM = 'postgres://user:password@host:5432/database'
export const HOW_TO_ENCODE =
  'in user and password, percent-encode characters such as @ : / ? # % (%40 %3A %2F %3F %23 %25)'
/** What the gateway decides itself: how long to wait, its name, and that it needs a primary. */
const OWN_CHOICE: ReadonlySet<string> = new Set(['connect_timeout', 'application_name', 'target_session_attrs'])

/** Throws an Error whose message says what is wrong, without repeating the URL, which contains a password. */
export function readDatabaseAddress(text: string): DatabaseAddress {
  // Postgres' tools allow no host after the credentials; `new URL` does not.
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?]|$)/i, '$1localhost')
  if (SEVERAL_HOSTS.test(whole))
    throw new Error(
      'names several hosts, one of which could be an old primary; name one address that always leads to the primary',
    )
  if (!/^postgres(?:ql)?:\/\//i.test(whole)) throw new Error(`is not a URL of Postgres; write ${FORM}`)
  if (!URL.canParse(whole)) throw new Error(`is not a URL; write ${FORM}, and ${HOW_TO_ENCODE}`)
  const url = new URL(whole)
  if (url.hash !== '' || (url.username === '' && whole.includes('@'))) throw new Error(`is cut off; ${HOW_TO_ENCODE}`)
  const query = new Map(url.searchParams)
  const take = (name: string): string | undefined => {
    const value = query.get(name)
    query.delete(name)
    return value === '' ? undefined : value
  }
  for (const name of OWN_CHOICE) query.delete(name)
  const host = take('host') ?? (decode(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost')
  const port = Number(take('port') ?? (url.port || 5432))
  const path = host.startsWith('/') ? `${host.replace(/\/+$/, '')}/.s.PGSQL.${port}` : undefined
  const ssl = readSsl(take, host)
  const given = {
    database: take('dbname') ?? decode(url.pathname.slice(1)),
    username: take('user') ?? decode(url.username),
    password: take('password') ?? decode(url.password),
  }
  return {
    host: [host],
    port: [port],
    ...(path !== undefined && { path }),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    ssl: path === undefined && ssl,
    session: Object.fromEntries(query),
    place: path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`,
  }
}

const SEVERAL_HOSTS = /^[^/]*\/\/(?:[^/?#]*@)?[^/?#@]*,[^@]*$|[?&]host=[^&]*(?:,|%2C)/i

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(`has a % that encodes nothing; ${HOW_TO_ENCODE}`)
  }
}

/** TLS as libpq does it; without `sslmode`, none. The driver only checks the server's name if it is no IP address. */
function readSsl(take: (name: string) => string | undefined, host: string): DatabaseAddress['ssl'] {
  const [root, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map(name => readPem(name, take(name)))
  const given = take('sslmode') ?? take('ssl')
  take('ssl')
  const mode = given === 'true' ? 'verify-full' : (given ?? (root === undefined ? 'disable' : 'verify-full'))
  const own = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) }
  const trusted = root === undefined || root === 'system' ? {} : { ca: root }
  switch (mode) {
    case 'disable':
    case 'false':
      return false
    case 'allow':
    case 'prefer':
      return 'prefer'
    case 'require':
      // As in libpq, a root certificate is there to be used.
      return root === undefined ? { ...own, rejectUnauthorized: false } : { ...own, ...trusted, ...ANY_NAME }
    case 'verify-ca':
      return { ...own, ...trusted, ...ANY_NAME }
    case 'verify-full':
      return { ...own, ...trusted, host }
    default:
      throw new Error('has an unknown sslmode; write disable, prefer, require, verify-ca or verify-full')
  }
}

const ANY_NAME = { checkServerIdentity: () => undefined }

/** Read once: connections that are opened later must not fail because a file is being replaced. Few files are ever named. */
const pems = new Map<string, string>()

function readPem(name: string, path: string | undefined): string | undefined {
  if (path === undefined || (name === 'sslrootcert' && path === 'system')) return path
  try {
    const pem = pems.get(path) ?? readFileSync(path, 'utf8')
    pems.set(path, pem)
    return pem
  } catch (error) {
    throw new Error(`names a file in ${name} that cannot be read: ${(error as Error).message}`)
  }
}
