/** Sends pages: wraps each in the frame that all pages share, sets the security headers, and compresses pages without secrets. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { grantsOf } from '../accounts/roles.ts'
import { awaitsFactor } from '../accounts/second-factor.ts'
import type { Language, Session } from '../accounts/types.ts'
import { DAYS_LEFT_MAX, readBalance } from '../ledger/reports/balance.ts'
import { chosenCoding, compress } from '../lib/content-coding.ts'
import { inPageTurn } from '../lib/loop-turns.ts'
import type { Assets } from './assets.ts'
import { type CookiePolicy, forgetSession, isLocal, sendAttempt, sendSession, splitTarget } from './guard.ts'
import { alternatesOf, LANGUAGE_FIELD } from './languages.ts'
import type { DashboardOptions } from './options.ts'
import type { Answer, Indexed, PageAnswer, ProblemAnswer } from './page.ts'
import type { Preferences } from './preferences.ts'
import { text } from './texts/index.ts'
import { count, dongWhole } from './view/format.ts'
import type { Templates } from './view/templates.ts'

export interface Frame {
  readonly options: DashboardOptions
  readonly templates: () => Promise<Templates>
  readonly assets: Assets
  readonly cookie: CookiePolicy
}

/** What the frame needs to know about the visitor. */
export interface Audience {
  readonly preferences: Preferences
  readonly session: Session | null
  readonly isScripted: boolean
  readonly requestId: string
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  // Allows the playground to play the speech that it has fetched.
  'media-src blob:',
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Sent with every page response. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Sent only where pages are served over TLS. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
}

export async function sendAnswer(
  frame: Frame,
  audience: Audience,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  reply.headers(SAFETY_HEADERS)
  if (frame.cookie.secure) reply.headers(TLS_HEADERS)
  reply.header('x-request-id', audience.requestId)
  switch (answer.kind) {
    case 'page':
      return sendHtml(request, reply, answer, await render(frame, audience, request, answer), {
        isPersonal: audience.session !== null,
      })
    case 'unchanged':
      return reply.header('cache-control', 'no-store').code(204).send()
    case 'problem':
      return sendProblem(frame, audience, request, reply, answer)
    case 'redirect':
      if (answer.session === 'end') forgetSession(reply, frame.cookie)
      else if (answer.session !== undefined) sendSession(reply, frame.cookie, answer.session)
      if (answer.attempt !== undefined) sendAttempt(reply, frame.cookie, answer.attempt)
      reply.header('cache-control', 'no-store')
      // htmx would follow the redirect itself and insert the whole page, or nothing of it, into a part of the current one.
      if (audience.isScripted) return reply.header('hx-redirect', answer.to).code(200).send('')
      return reply.redirect(answer.to, 303)
    case 'file': {
      reply.headers({ 'cache-control': 'no-store', 'content-type': answer.contentType, ...answer.headers })
      if (answer.fileName) reply.header('content-disposition', `attachment; filename="${answer.fileName}"`)
      return reply.send(answer.body)
    }
  }
}

async function render(frame: Frame, audience: Audience, request: FastifyRequest, answer: PageAnswer): Promise<string> {
  const { options, assets } = frame
  const templates = await frame.templates()
  const { language, theme } = audience.preferences
  // The frame must reveal nothing to somebody who has only entered the password.
  const session = audience.session === null || awaitsFactor(audience.session) ? null : audience.session
  const [{ banner, maintenance }, wallet] = await Promise.all([
    options.announcements.read(),
    session !== null ? walletView(options, language, session) : null,
  ])
  const view = {
    language,
    theme,
    brand: options.people.serviceName,
    publicUrl: options.publicUrl,
    production: options.production,
    sandbox: options.payments.simulation,
    hasOutbox: options.outboxFolder !== null && isLocal(request),
    banner: banner === null ? null : banner[language],
    maintenance,
    company: options.company,
    person: session === null ? null : { email: session.email, isOperator: session.role !== null },
    wallet,
    factor: factorView(audience.session),
    may: grantsOf(session?.role ?? null),
    title: answer.title,
    section: answer.section ?? '',
    indexed: answer.indexed !== undefined ? indexedView(frame, audience, request, answer.indexed) : null,
    here: localUrl(request),
    asset: Object.fromEntries(assets.all.map(({ name }) => [name.replace(/\W/g, '_'), assets.path(name)])),
    scripts: (answer.scripts ?? []).map(name => assets.path(name)),
    modules: modulesOf(audience, answer).map(name => assets.path(name)),
    styles: (answer.styles ?? []).map(name => assets.path(name)),
    themeColors: THEME_COLORS,
  }
  return inPageTurn(() => templates.render(answer.template, view, { capabilityKeys: CAPABILITY_KEYS, ...answer.data }))
}

/** How forms ask for the second factor, depending on which factors the visitor has set up. */
function factorView(session: Session | null) {
  const hasPasskeys = session?.hasPasskeys === true
  const hasAuthenticator = session?.hasAuthenticator === true
  return {
    hasPasskeys,
    codeKey: hasAuthenticator ? 'factor.code' : 'factor.code.recovery',
    leadKey: !hasPasskeys ? 'factor.lead' : hasAuthenticator ? 'factor.lead.passkey' : 'factor.lead.passkey_only',
  }
}

/** Adds the passkey script for people who have passkeys, because any form may ask for the second factor. */
function modulesOf({ session }: Audience, { modules = [] }: PageAnswer): readonly string[] {
  return [...new Set(session?.hasPasskeys ? [...modules, 'passkey.js'] : modules)]
}

/**
 * Data for search engines: the description, the page's link in each language, and `canonical`, the link in the language shown.
 */
function indexedView(
  { options }: Frame,
  { preferences }: Audience,
  request: FastifyRequest,
  { description, path }: Indexed,
) {
  const links = alternatesOf(options.publicUrl + (path ?? splitTarget(request.url).path))
  return { description, canonical: links[preferences.language], links }
}

/** The balance for the top bar; null while the database is not responding, because the page itself may not need it. */
async function walletView({ sql }: DashboardOptions, language: Language, { accountId }: Session) {
  const report = await readBalance(sql, accountId).catch(() => null)
  if (report === null) return null
  const { balanceMicroVnd, daysLeft } = report
  const days = daysLeft === null ? null : Math.floor(daysLeft)
  const isEmpty = balanceMicroVnd === 0n
  return {
    balance: dongWhole(balanceMicroVnd),
    left: days === null || isEmpty ? null : daysText(language, days),
    isLow: isEmpty || (days !== null && days < 3),
  }
}

function daysText(language: Language, days: number): string {
  if (days < 1) return text(language, 'frame.day_left')
  if (days > DAYS_LEFT_MAX) return text(language, 'frame.year_left')
  return text(language, 'frame.days_left', { days: count(days) })
}

const CAPABILITY_KEYS = {
  reasoning: 'models.capability.reasoning',
  vision: 'models.capability.vision',
  tools: 'models.capability.tools',
  streaming: 'models.capability.streaming',
} as const

const THEME_COLORS = { light: '#faf9f6', dark: '#131615' }

/** The path that was requested. A path that only accepts forms cannot be linked to: its nearest parent path with a page is. */
function pagePath(request: FastifyRequest): string {
  let { path } = splitTarget(request.url)
  let route = request.routeOptions.url ?? ''
  while (request.method === 'POST' && route !== '' && !request.server.hasRoute({ method: 'GET', url: route })) {
    path = path.slice(0, path.lastIndexOf('/'))
    route = route.slice(0, route.lastIndexOf('/'))
  }
  return path || '/'
}

/**
 * The page's path and query without language and theme, ending in `?` or `&`. The links that switch them append `language=…` or
 * `theme=…`.
 */
function localUrl(request: FastifyRequest): string {
  const fields = new URLSearchParams(splitTarget(request.url).query)
  fields.delete('language')
  fields.delete('theme')
  fields.delete(LANGUAGE_FIELD)
  const query = fields.toString()
  return query === '' ? `${pagePath(request)}?` : `${pagePath(request)}?${query}&`
}

/**
 * The sign-in page, which leads back to the page that was requested, or from which a form was submitted. With `unsent`, it says that
 * the form was not.
 */
export function signInUrl(request: FastifyRequest): string {
  if (request.method !== 'POST') return `/signin?next=${encodeURIComponent(request.url)}`
  const page = pagePath(request)
  // Only the form that signs out has no page.
  return `/signin?next=${encodeURIComponent(page)}${page === '/' ? '' : '&unsent=1'}`
}

async function sendProblem(
  frame: Frame,
  audience: Audience,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, message, retryAfterSeconds }: ProblemAnswer,
): Promise<FastifyReply> {
  const { language } = audience.preferences
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  const title = text(language, `problem.${status}.title`)
  const seconds = retryAfterSeconds ?? 60
  const values = { minutes: Math.ceil(seconds / 60) }
  const body = text(language, message ?? `problem.${status}.text`, values)
  // An operator whose session has ended sees what everybody sees where there is nothing, so all of them are offered to sign in.
  const signIn = status === 404 && audience.session === null ? signInUrl(request) : null
  const page: PageAnswer = {
    kind: 'page',
    template: 'problem',
    title,
    data: { status, heading: title, message: body, signIn, requestId: audience.requestId },
    status,
  }
  return sendHtml(request, reply, page, await render(frame, audience, request, page), {
    isPersonal: audience.session !== null,
  })
}

const COMPRESS_FROM_BYTES = 1400

async function sendHtml(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, secret = false }: { status?: number; secret?: boolean },
  html: string,
  { isPersonal }: { isPersonal: boolean },
): Promise<FastifyReply> {
  const coding = chosenCoding(request.headers['accept-encoding'])
  reply.code(status).headers({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': secret || isPersonal ? 'no-store' : 'private, no-cache',
    vary: 'accept, accept-encoding, accept-language, authorization, cookie, hx-request, x-api-key',
  })
  // The length of a compressed page reveals repetition, so a page with a secret is sent uncompressed.
  if (coding === null || secret || html.length < COMPRESS_FROM_BYTES) return reply.send(html)
  const body = await compress(html, coding, { quality: 4 })
  return reply.header('content-encoding', coding).send(body)
}
