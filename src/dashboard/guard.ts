/** Who may do what: the session behind the cookie, and whether a request that changes something comes from our own pages. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSession } from '../accounts/sessions.ts'
import type { OpenedSession, PeopleServices, Session } from '../accounts/types.ts'

export interface CookiePolicy {
  readonly name: string
  readonly secure: boolean
}

/**
 * `__Host-` binds the cookie to this host, all paths and TLS. Browsers refuse it on plain http, which is only for
 * development: there the name is plain.
 */
export function cookiePolicy({ publicUrl, production }: { publicUrl: string; production: boolean }): CookiePolicy {
  const secure = production || publicUrl.startsWith('https:')
  return { name: secure ? '__Host-session' : 'session', secure }
}

export function sendSession(reply: FastifyReply, { name, secure }: CookiePolicy, opened: OpenedSession): void {
  reply.setCookie(name, opened.token, {
    path: '/',
    httpOnly: true,
    secure,
    sameSite: 'lax',
    maxAge: opened.maxAgeSeconds,
  })
  const maxAge = opened.deviceSeconds
  reply.setCookie(deviceCookie({ secure }), opened.device, {
    path: '/',
    httpOnly: true,
    secure,
    sameSite: 'lax',
    maxAge,
  })
}

/** The device's cookie stays when its session ends. */
export function deviceCookie({ secure }: Pick<CookiePolicy, 'secure'>): string {
  return secure ? '__Host-device' : 'device'
}

export function forgetSession(reply: FastifyReply, { name, secure }: CookiePolicy): void {
  reply.clearCookie(name, { path: '/', httpOnly: true, secure, sameSite: 'lax' })
}

const TOKEN = /^[\w-]{20,200}$/

/** Null for visitors, for what is no token, and for sessions that have ended. */
export async function sessionOf(people: PeopleServices, token: string | undefined): Promise<Session | null> {
  return token !== undefined && TOKEN.test(token) ? readSession(people, token) : null
}

/**
 * True when a form was sent from one of our pages. Browsers send `Origin` with every POST; where one does not,
 * `Sec-Fetch-Site` must say the same. Outside production the host that was called counts as ours too, so that
 * `localhost` works like `127.0.0.1`.
 */
export function comesFromUs(
  { headers }: Pick<FastifyRequest, 'headers'>,
  { publicUrl, production }: { publicUrl: string; production: boolean },
): boolean {
  const { origin, host } = headers
  if (origin === undefined) return headers['sec-fetch-site'] === 'same-origin'
  if (origin === new URL(publicUrl).origin) return true
  return !production && host !== undefined && origin === `http://${host}`
}

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i
const LOOPBACK_PEER = /^(::ffff:)?127(\.\d{1,3}){3}$|^::1$/
/** What a proxy adds; whoever sends them may be anywhere. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * True for somebody at this machine: the connection itself comes from it, names it (a page elsewhere could have its own name
 * lead here), and no proxy handed it on. `X-Forwarded-For` is never believed for this.
 */
export function isLocal({ headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>): boolean {
  return (
    LOOPBACK_PEER.test(socket.remoteAddress ?? '') &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    FORWARDING.every(name => headers[name] === undefined)
  )
}

/** A path of ours to go to after signing in; `elsewhere` for everything else. */
export function localPath(text: string, elsewhere = '/overview'): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes('\\') ? text : elsewhere
}

/** Path and query of a request as they were sent. A path begins with one `/`, or a link to it could lead to another host. */
export function splitTarget(url: string): { path: string; query: string } {
  const mark = url.indexOf('?')
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
  return { path: path.replace(/^\/*/, '/'), query }
}
