/**
 * The pages as one Fastify plugin. Its body parsers, error pages and 404s do not affect the API, which runs on the same server.
 */

import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import cookies from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { awaitsFactor } from '../accounts/second-factor.ts'
import { defer } from '../lib/deferred.ts'
import { inPageTurn } from '../lib/loop-turns.ts'
import { keysIn } from '../pipeline/authenticate.ts'
import { type Audience, type Frame, SAFETY_HEADERS, sendAnswer, signInUrl, TLS_HEADERS } from './answer.ts'
import { codedAsset, loadAssets } from './assets.ts'
import { faultAnswer } from './faults.ts'
import { Form, firstFields } from './form.ts'
import { attemptCookie, comesFromUs, cookiePolicy, deviceCookie, isLocal, sessionOf, splitTarget } from './guard.ts'
import { languageAsked } from './languages.ts'
import { passGate } from './operator/gate.ts'
import type { DashboardOptions } from './options.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from './page.ts'
import { pagesOf } from './pages.ts'
import { demandFactor } from './people/factor-gate.ts'
import { LANGUAGES, readPreferences, THEMES } from './preferences.ts'
import type { Templates } from './view/templates.ts'

const TEMPLATES = fileURLToPath(new URL('templates', import.meta.url))
const ASSETS = fileURLToPath(new URL('assets', import.meta.url))
const YEAR_SECONDS = 31_536_000

/**
 * Distinguishes browsers from programs: a browser asks for HTML and sends no API key. Both may request `/`, unknown paths, and
 * paths such as `/models`, which an API client requests if its base URL lacks `/v1`.
 */
const BROWSERS = {
  name: 'audience',
  storage() {
    let handler: unknown = null
    return {
      get: (audience: unknown) => (audience === 'browser' ? handler : null),
      set(_audience: unknown, given: unknown) {
        handler = given
      },
    }
  },
  deriveConstraint: ({ headers }: IncomingMessage) =>
    headers.accept?.includes('text/html') === true && keysIn(headers).length === 0 ? 'browser' : undefined,
}

/** Adds all pages to a server. Throws an Error if an asset is missing. */
export async function addDashboard(server: FastifyInstance, options: DashboardOptions): Promise<void> {
  const frame: Frame = {
    options,
    templates: lazyTemplates(),
    assets: loadAssets(ASSETS),
    cookie: cookiePolicy(options),
  }
  server.addConstraintStrategy(BROWSERS as never)
  loadSoon(server, frame)
  await server.register(async scope => {
    await scope.register(cookies)
    acceptForms(scope, options)
    scope.setErrorHandler(async (error, request, reply) => {
      const answer = faultAnswer(error)
      if (answer.status === 500 || answer.status === 503) {
        options.onFailed(answer.status)
        const { url: path } = request.routeOptions
        options.log.error({ requestId: requestIdOf(request), path, cause: error }, 'page failed')
      }
      return sendAnswer(frame, audienceOf(request, null), request, reply, answer)
    })
    addAssets(scope, frame)
    for (const page of pagesOf(options)) addPage(scope, frame, page)
    // Answers a browser's 404; API clients get the server's own JSON.
    scope.get(
      '/*',
      { constraints: { audience: 'browser' }, config: { authentication: 'none' } },
      async (request, reply) =>
        sendAnswer(frame, audienceOf(request, await visitorOf(frame, request)), request, reply, NOT_FOUND),
    )
  })
}

/**
 * Delays loading the templates and their compiler until a page is requested or `loadSoon` runs, so that the process can take
 * calls sooner.
 */
function lazyTemplates(): () => Promise<Templates> {
  let loading: Promise<Templates> | undefined
  return () => {
    loading ??= import('./view/templates.ts').then(({ loadTemplates }) => loadTemplates(TEMPLATES))
    return loading
  }
}

/** Loads all templates soon after start-up, before a newer version can replace the files on disk while this one runs. */
function loadSoon(server: FastifyInstance, { templates, options: { log } }: Frame): void {
  let cancel = () => {}
  server.addHook('onListen', async () => {
    cancel = defer(() => {
      templates().then(
        ({ names }) => log.debug({ templates: names.length }, 'pages are loaded'),
        cause => log.error({ cause }, 'cannot load the page templates; no page can be shown'),
      )
    })
  })
  server.addHook('onClose', async () => cancel())
}

function acceptForms(scope: FastifyInstance, { limits }: DashboardOptions): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) => {
    const form = (await request.server.bodies.read(request, limits.formBytesMax)).toString('utf8')
    if (firstFields(form, limits.fieldsMax) !== form) {
      throw Object.assign(new Error('too many fields'), { statusCode: 400 })
    }
    return inPageTurn(() => new URLSearchParams(form))
  })
  // A mail program may send its unsubscribe request as a multipart form (RFC 8058). The fields do not matter.
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
    if (request.routeOptions.config.fromAnywhere !== true) {
      throw Object.assign(new Error('multipart forms are not accepted'), { statusCode: 415 })
    }
    await request.server.bodies.read(request, limits.formBytesMax)
    return new URLSearchParams()
  })
}

function addAssets(scope: FastifyInstance, { assets, cookie }: Frame): void {
  scope.get<{ Params: { file: string } }>(
    '/assets/:file',
    { config: { authentication: 'none' } },
    async (request, reply) => {
      reply.headers(cookie.secure ? { ...SAFETY_HEADERS, ...TLS_HEADERS } : SAFETY_HEADERS)
      const asset = assets.find(request.params.file)
      if (asset === null) return reply.code(404).type('text/plain').send('There is no such file.')
      const { body, headers } = await codedAsset(asset, String(request.headers['accept-encoding'] ?? ''))
      return reply.headers(headers).send(body)
    },
  )
}

function addPage(scope: FastifyInstance, frame: Frame, page: Page): void {
  scope.route({
    method: page.method,
    url: page.path,
    ...(page.sharesPath === true && { constraints: { audience: 'browser' } }),
    config: { authentication: page.authentication, fromAnywhere: page.fromAnywhere === true },
    handler: (request, reply) => answerPage(frame, page, request, reply),
  })
}

async function answerPage(
  frame: Frame,
  page: Page,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { options } = frame
  const session =
    page.authentication === 'session' || page.authentication === 'operator'
      ? await sessionOf(options.people, tokenOf(frame, request))
      : await visitorOf(frame, request)
  const audience = audienceOf(request, session)
  const send = (answer: Answer) => sendAnswer(frame, audience, request, reply, answer)
  if (page.method === 'POST' && page.fromAnywhere !== true && !comesFromUs(request, options)) {
    return send({ kind: 'problem', status: 403, message: 'problem.origin' })
  }
  if (page.authentication === 'development' && !isLocal(request)) return send(NOT_FOUND)
  // For visitors and customers, operator pages do not exist.
  if (page.authentication === 'operator' && (session?.role ?? null) === null) return send(NOT_FOUND)
  if (page.authentication === 'session' && session === null) {
    return send({ kind: 'redirect', to: signInUrl(request) })
  }
  const query = queryOf(request)
  if (page.method === 'GET' && rememberPreferences(frame, query, reply)) {
    return send({ kind: 'redirect', to: pathOf(request) + query.with({ language: null, theme: null }) })
  }
  const asked = pageRequest(frame, audience, request, { page, query })
  return send((await refuse(page, asked)) ?? (await inPageTurn(() => page.handle(asked))))
}

/** Returns the answer to send instead of the page; null if the page may answer. */
async function refuse(page: Page, request: PageRequest): Promise<Answer | null> {
  if (page.authentication === 'operator') return passGate(page, request)
  if (page.authentication !== 'session' || page.beforeFactor === true) return null
  return demandFactor(request, { again: false })
}

function tokenOf({ cookie }: Frame, request: FastifyRequest): string | undefined {
  return request.cookies[cookie.name]
}

/**
 * Returns the session for a public page. Null until the second factor has been passed, and null while the database is not
 * responding, because public pages work without a database.
 */
async function visitorOf(frame: Frame, request: FastifyRequest): Promise<Audience['session']> {
  const session = await sessionOf(frame.options.people, tokenOf(frame, request)).catch(() => null)
  return session !== null && awaitsFactor(session) ? null : session
}

function pageRequest(
  frame: Frame,
  audience: Audience,
  request: FastifyRequest,
  { page, query }: { readonly page: Page; readonly query: Form },
): PageRequest {
  const { options } = frame
  const { language } = audience.preferences
  const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
  return {
    options,
    language,
    visitor: {
      ipAddress: request.ip,
      userAgent: String(request.headers['user-agent'] ?? ''),
      language,
      device: request.cookies[deviceCookie(frame.cookie)] ?? null,
    },
    session: audience.session,
    attempt: request.cookies[attemptCookie(frame.cookie)] ?? null,
    target: request.url,
    method: page.method,
    path: pathOf(request),
    params: request.params as Record<string, string>,
    query,
    form: new Form(fields),
    isScripted: audience.isScripted,
    isLocal: isLocal(request),
    now: options.now(),
  }
}

function audienceOf(request: FastifyRequest, session: Audience['session']): Audience {
  return {
    preferences: readPreferences(request.cookies ?? {}, request.headers['accept-language'], languageAsked(request.url)),
    session,
    isScripted: request.headers['hx-request'] === 'true',
    requestId: requestIdOf(request),
  }
}

/** Uses the surrounding server's request id, so that logs and pages agree. */
function requestIdOf(request: FastifyRequest & { readonly state?: { readonly requestId: string } }): string {
  return request.state?.requestId ?? request.id
}

/**
 * Makes links such as `?language=en` work without scripts: stores the choice in a cookie. Returns true if there was one, so
 * that the caller redirects to the URL without the query parameter.
 */
function rememberPreferences({ cookie }: Frame, query: Form, reply: FastifyReply): boolean {
  const language = query.choice('language', LANGUAGES)
  const theme = query.choice('theme', THEMES)
  // Not `httpOnly`, because a script writes the theme's cookie too.
  const settings = { path: '/', sameSite: 'lax', secure: cookie.secure, maxAge: YEAR_SECONDS } as const
  if (language !== null) reply.setCookie('language', language, settings)
  if (theme !== null) reply.setCookie('theme', theme, settings)
  return language !== null || theme !== null
}

function queryOf(request: FastifyRequest): Form {
  return new Form(new URLSearchParams(splitTarget(request.url).query))
}

function pathOf(request: FastifyRequest): string {
  return splitTarget(request.url).path
}
