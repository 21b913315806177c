/** The sandbox: a double of the providers behind the gateway, on a loopback port, that needs no credentials of theirs. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chatErrors, chatFormat } from './chat/format.ts'
import { BodyTooLargeError, Exchange, type Pace, type SandboxLimits } from './exchange.ts'
import type { ErrorFormat, WireFormat } from './format.ts'
import { helpText } from './help.ts'
import { answerImages } from './images/endpoint.ts'
import { messagesFormat } from './messages/format.ts'
import { invalid, type ModelFacts, ProviderError } from './model.ts'
import { createResponsesFormat } from './responses/format.ts'
import { answerSpeech } from './speech/endpoint.ts'
import { answerText } from './text-endpoint.ts'

export type { Pace, SandboxLimits } from './exchange.ts'
export type { ModelFacts } from './model.ts'

export const SANDBOX_PACE: Pace = { firstTokenMs: 150, tokensPerSecond: 80 }

export const SANDBOX_LIMITS: SandboxLimits = {
  bodyBytesMax: 64 * 2 ** 20,
  replyTokensMax: 16_000,
  echoCharactersMax: 400,
  hangMsMax: 15 * 60_000,
  replyWaitMsMax: 2_000,
  connectionsMax: 4_000,
}

export interface SandboxOptions {
  /** Facts of an upstream's model by the upstream's own name of it; null: the provider has no such model (404). */
  readonly modelFacts: (upstreamId: string, upstreamModel: string) => ModelFacts | null
  /** Names for the model list of an upstream. */
  readonly modelNames?: (upstreamId: string) => readonly string[]
  /** 0 or absent: a free port. Only the loopback address is listened on. */
  readonly port?: number
  readonly pace?: Partial<Pace>
  readonly limits?: Partial<SandboxLimits>
}

export interface Sandbox {
  /** Without a slash at the end; an upstream's base URL is `<url>/<upstream id>`. */
  readonly url: string
  /** Breaks off open replies. */
  close(): Promise<void>
}

/** Rejects when the port is taken. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const pace = { ...SANDBOX_PACE, ...options.pace }
  const limits = { ...SANDBOX_LIMITS, ...options.limits }
  const table = routes()
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const exchange = new Exchange(request, response, { pace, limits })
    void handle(exchange, table, options)
  })
  server.maxConnections = limits.connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Route {
  readonly suffix: string
  readonly method: 'POST' | 'GET'
  readonly errors: ErrorFormat
  answer(exchange: Exchange, upstreamId: string, options: SandboxOptions): Promise<void>
}

function routes(): Route[] {
  return [
    textRoute('/messages', messagesFormat),
    textRoute('/chat/completions', chatFormat),
    textRoute('/responses', createResponsesFormat()),
    imagesRoute('/images/generations', false),
    imagesRoute('/images/edits', true),
    speechRoute,
    modelsRoute,
  ]
}

function imagesRoute(suffix: string, isEdit: boolean): Route {
  return {
    suffix,
    method: 'POST',
    errors: chatErrors,
    answer: (exchange, upstreamId, options) =>
      answerImages(exchange, isEdit, model => options.modelFacts(upstreamId, model)),
  }
}

const speechRoute: Route = {
  suffix: '/audio/speech',
  method: 'POST',
  errors: chatErrors,
  answer: (exchange, upstreamId, options) => answerSpeech(exchange, model => options.modelFacts(upstreamId, model)),
}

const modelsRoute: Route = {
  suffix: '/models',
  method: 'GET',
  errors: chatErrors,
  async answer(exchange, upstreamId, options) {
    const names = options.modelNames?.(upstreamId) ?? []
    const data = names.map(id => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'sandbox',
      type: 'model',
      display_name: id,
    }))
    const ends = { first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
    exchange.json(200, { object: 'list', data, has_more: false, ...ends })
  },
}

function textRoute(suffix: string, format: WireFormat): Route {
  return {
    suffix,
    method: 'POST',
    errors: format,
    async answer(exchange, upstreamId, options) {
      if (
        format.needsVersionHeader &&
        !Object.keys(exchange.request.headers).some(name => /^[a-z]+-version$/.test(name))
      ) {
        throw invalid('<vendor>-version: header is required')
      }
      await answerText(exchange, format, model => options.modelFacts(upstreamId, model))
    },
  }
}

async function handle(exchange: Exchange, table: readonly Route[], options: SandboxOptions): Promise<void> {
  const path = new URL(exchange.request.url ?? '/', 'http://sandbox').pathname.replace(/\/+$/, '')
  if (path === '') return exchange.send(200, 'text/plain; charset=utf-8', helpText())
  const upstreamId = path.split('/')[1]!
  const route = table.find(candidate => path.endsWith(candidate.suffix) && path.length > candidate.suffix.length)
  const errors = route?.errors ?? chatErrors
  try {
    if (route === undefined) throw errors.fault('404')
    if (exchange.request.method !== route.method)
      throw new ProviderError(405, 'invalid_request_error', 'Method Not Allowed')
    if (!hasCredentials(exchange)) throw errors.fault('401')
    await route.answer(exchange, upstreamId, options)
  } catch (error) {
    fail(exchange, error, errors)
  }
}

/** Any value will do; that one is sent at all is what a gateway must get right. */
function hasCredentials(exchange: Exchange): boolean {
  return ['x-api-key', 'authorization', 'api-key'].some(name => exchange.header(name).replace(/^Bearer\s*/, '') !== '')
}

function fail(exchange: Exchange, error: unknown, errors: ErrorFormat): void {
  const { request, response } = exchange
  if (response.headersSent || exchange.signal.aborted) {
    response.destroy()
    return
  }
  if (error instanceof ProviderError) exchange.error(error, errors)
  else if (error instanceof BodyTooLargeError) {
    response.setHeader('connection', 'close')
    exchange.error(errors.fault('413'), errors)
  } else exchange.error(errors.fault('500'), errors)
  request.resume()
}
