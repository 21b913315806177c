/** Which path of an upstream is answered by what. */

import { bedrockFormat } from './bedrock/format.ts'
import { chatErrors, chatFormat } from './chat/format.ts'
import type { ModelLookup } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import type { ErrorFormat, WireFormat } from './format.ts'
import { answerImages } from './images/endpoint.ts'
import { messagesFormat } from './messages/format.ts'
import { invalid } from './model.ts'
import { createResponsesFormat } from './responses/format.ts'
import { answerSpeech } from './speech/endpoint.ts'
import { answerText } from './text-endpoint.ts'

/** What an endpoint may know of the upstream that it stands in for. */
export interface UpstreamView {
  readonly lookUp: ModelLookup
  readonly modelNames: readonly string[]
}

export interface Route {
  readonly method: 'POST' | 'GET'
  /** Matches the end of a path, behind the upstream's id. */
  readonly path: RegExp
  readonly errors: ErrorFormat
  answer(exchange: Exchange, upstream: UpstreamView, match: RegExpExecArray): Promise<void>
}

/** Each sandbox has its own, because the responses format remembers. */
export function createRoutes(): Route[] {
  return [
    textRoute(/\/messages$/, messagesFormat),
    textRoute(/\/chat\/completions$/, chatFormat),
    textRoute(/\/responses$/, createResponsesFormat()),
    {
      method: 'POST',
      path: /\/model\/([^/]+)\/invoke(-with-response-stream)?$/,
      errors: bedrockFormat,
      answer: (exchange, { lookUp }, match) => {
        const fromPath = { model: decoded(match[1]!), stream: match[2] !== undefined }
        return answerText(exchange, bedrockFormat, { lookUp, fromPath })
      },
    },
    apiRoute(/\/images\/generations$/, (exchange, { lookUp }) => answerImages(exchange, false, lookUp)),
    apiRoute(/\/images\/edits$/, (exchange, { lookUp }) => answerImages(exchange, true, lookUp)),
    apiRoute(/\/audio\/speech$/, (exchange, { lookUp }) => answerSpeech(exchange, lookUp)),
    { method: 'GET', path: /\/models$/, errors: chatErrors, answer: answerModels },
  ]
}

/** A name that is not well encoded stays as it is, and is then unknown. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function apiRoute(path: RegExp, answer: Route['answer']): Route {
  return { method: 'POST', path, errors: chatErrors, answer }
}

function textRoute(path: RegExp, format: WireFormat): Route {
  return {
    method: 'POST',
    path,
    errors: format,
    async answer(exchange, { lookUp }) {
      const isVersioned = Object.keys(exchange.request.headers).some(name => /^[a-z]+-version$/.test(name))
      if (format.needsVersionHeader && !isVersioned) throw invalid('<vendor>-version: header is required')
      await answerText(exchange, format, { lookUp })
    },
  }
}

/** One list that the SDKs of both chat formats can read. */
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
