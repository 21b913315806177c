/** Maps an upstream's paths to handlers, which are loaded on first use rather than at start-up. */

import { bedrockErrors } from './bedrock/errors.ts'
import { chatErrors } from './chat/errors.ts'
import type { ModelLookup } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import type { ErrorFormat, WireFormat } from './format.ts'
import { messagesErrors } from './messages/errors.ts'
import { invalid } from './model.ts'

/** What an endpoint can find out about the upstream that the sandbox stands in for. */
export interface UpstreamView {
  readonly lookUp: ModelLookup
  readonly modelNames: readonly string[]
}

export interface Route {
  readonly method: 'POST' | 'GET'
  /** Matches the part of a path after the upstream's id. */
  readonly path: RegExp
  readonly errors: ErrorFormat
  answer(exchange: Exchange, upstream: UpstreamView, match: RegExpExecArray): Promise<void>
}

/** Creates the routes. Each sandbox needs its own, because the Responses endpoint stores earlier responses. */
export function createRoutes(): Route[] {
  let responses: WireFormat | null = null
  return [
    textRoute(/\/messages$/, messagesErrors, async () => (await import('./messages/format.ts')).messagesFormat),
    textRoute(/\/chat\/completions$/, chatErrors, async () => (await import('./chat/format.ts')).chatFormat),
    textRoute(/\/responses$/, chatErrors, async () => {
      const { createResponsesFormat } = await import('./responses/format.ts')
      responses ??= createResponsesFormat()
      return responses
    }),
    textRoute(
      /\/model\/([^/]+)\/invoke(-with-response-stream)?$/,
      bedrockErrors,
      async () => (await import('./bedrock/format.ts')).bedrockFormat,
    ),
    apiRoute(/\/images\/(generations|edits)$/, async (exchange, { lookUp }, match) => {
      const { answerImages } = await import('./images/endpoint.ts')
      await answerImages(exchange, match[1] === 'edits', lookUp)
    }),
    apiRoute(/\/audio\/speech$/, async (exchange, { lookUp }) => {
      const { answerSpeech } = await import('./speech/endpoint.ts')
      await answerSpeech(exchange, lookUp)
    }),
    { method: 'GET', path: /\/models$/, errors: chatErrors, answer: answerModels },
  ]
}

function apiRoute(path: RegExp, answer: Route['answer']): Route {
  return { method: 'POST', path, errors: chatErrors, answer }
}

/**
 * A route for one of the text formats. `path` may capture the model and whether to stream; if it captures nothing, both are
 * read from the body.
 */
function textRoute(path: RegExp, errors: ErrorFormat, load: () => Promise<WireFormat>): Route {
  return {
    method: 'POST',
    path,
    errors,
    async answer(exchange, { lookUp }, match) {
      const [format, { answerText }] = await Promise.all([load(), import('./text-endpoint.ts')])
      const isVersioned = Object.keys(exchange.request.headers).some(name => /^[a-z]+-version$/.test(name))
      if (format.needsVersionHeader && !isVersioned) throw invalid('<vendor>-version: header is required')
      const [, model, suffix] = match
      const fromPath = model === undefined ? {} : { model: decoded(model), stream: suffix !== undefined }
      await answerText(exchange, format, { lookUp, fromPath })
    },
  }
}

/** Decodes a model name. A malformed name is returned unchanged; no model will have it. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Lists models in a form that both SDK families can read. */
async function answerModels(exchange: Exchange, { modelNames }: UpstreamView): Promise<void> {
  const data = modelNames.map(id => ({
    id,
    object: 'model',
    type: 'model',
    created: 0,
    created_at: '1970-01-01T00:00:00Z',
    owned_by: 'sandbox',
    display_name: id,
  }))
  const ends = { first_id: modelNames[0] ?? null, last_id: modelNames.at(-1) ?? null }
  exchange.json(200, { object: 'list', data, has_more: false, ...ends })
}
