/** Finds out who sent a request: the session behind its cookie, and whether a form was submitted from one of our own pages. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSession } from '../accounts/sessions.ts'
import type { OpenedSession, PeopleServices, Session } from '../accounts/types.ts'
import { firstFields } from './form.ts'
import { DASHBOARD_LIMITS } from './options.ts'

export interface CookiePolicy {
  readonly name: string
  readonly secure: boolean
}

/**
 * `__Host-` binds the cookie to this host, all paths and TLS. Browsers refuse it on plain http, so development uses the
 * plain name.
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

/** Name of the cookie that identifies the device; it outlives the session. */
export function deviceCookie({ secure }: Pick<CookiePolicy, 'secure'>): string {
  return secure ? '__Host-device' : 'device'
}

export function forgetSession(reply: FastifyReply, { name, secure }: CookiePolicy): void {
  reply.clearCookie(name, { path: '/', httpOnly: true, secure, sameSite: 'lax' })
}

/** Reads one of our cookies from a raw `Cookie` header, for routes without the cookie plugin. Our values are never escaped. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(';').map(pair => pair.trim())
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** Name of the cookie that identifies a sign-in attempt while the browser is at the provider. */
export function attemptCookie({ secure }: Pick<CookiePolicy, 'secure'>): string {
  return secure ? '__Host-sign-in' : 'sign-in'
}

/**
 * Sets the cookie of a sign-in attempt; `end` clears it. The cookie is lax because the browser comes back from another site. The
 * attempt's database row decides when the attempt expires; the cookie's age does not.
 */
export function sendAttempt(reply: FastifyReply, { secure }: CookiePolicy, attempt: string): void {
  const settings = { path: '/', httpOnly: true, secure, sameSite: 'lax' } as const
  if (attempt === 'end') reply.clearCookie(attemptCookie({ secure }), settings)
  else reply.setCookie(attemptCookie({ secure }), attempt, { ...settings, maxAge: ATTEMPT_SECONDS })
}

const ATTEMPT_SECONDS = 3_600
const TOKEN = /^[\w-]{20,200}$/

/** Null for visitors, invalid tokens and ended sessions. */
export async function sessionOf(people: PeopleServices, token: string | undefined): Promise<Session | null> {
  return token !== undefined && TOKEN.test(token) ? readSession(people, token) : null
}

/**
 * True when a form was submitted from one of our pages. Browsers send `Origin` with every POST; a request without `Origin` must
 * have `Sec-Fetch-Site: same-origin`. Outside production, the host that was requested counts as ours too, so that `localhost`
 * works like `127.0.0.1`.
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
/** Headers that proxies add; a request with one of them may come from anywhere. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * True for a request made on this machine: the connection is local, the `Host` header is local (against DNS rebinding by other
 * sites), and no proxy forwarded the request. `X-Forwarded-For` is never trusted for this.
 */
export function isLocal({ headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>): boolean {
  return (
    LOOPBACK_PEER.test(socket.remoteAddress ?? '') &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    FORWARDING.every(name => headers[name] === undefined)
  )
}

/** Returns `text` if it is a path of this site, safe to redirect to after signing in; otherwise `elsewhere`. */
export function localPath(text: string, elsewhere = '/overview'): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes('\\') ? text : elsewhere
}

/**
 * Splits a request's target into path and query. The path starts with a single `/`, because a link to `//…` could lead to another
 * host. The query has at most `fieldsMax` fields; further ones are dropped.
 */
export function splitTarget(url: string): { path: string; query: string } {
  const mark = url.indexOf('?')
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
  return { path: path.replace(/^\/*/, '/'), query: firstFields(query, DASHBOARD_LIMITS.fieldsMax) }
}
