/** The first steps of every endpoint: parse the body, look up the model, find `sandbox:` words (such as `sandbox:hang`). */

import type { ErrorFormat } from './format.ts'
import { isObject, type JsonObject } from './json.ts'
import { invalid, type ModelFacts, ProviderError } from './model.ts'
import { type FoundWords, readWords, UnknownWordError } from './words.ts'

export type ModelLookup = (upstreamModel: string) => ModelFacts | null
export type ModelKind = NonNullable<ModelFacts['kind']>

/** Parses a body. Throws ProviderError when it is not a JSON object. */
export function parseBody(bytes: Buffer, format: Pick<ErrorFormat, 'fault'>): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw format.fault('json')
  }
  if (!isObject(body)) throw format.fault('json')
  return body
}

/** Looks up the model that the body names. Throws ProviderError when `model` is missing, unknown, or of a different kind. */
export function lookUpModel(body: JsonObject, kind: ModelKind, lookUp: ModelLookup, format: ErrorFormat): ModelFacts {
  const { model } = body
  if (model === undefined) throw invalid('model: Field required', { param: 'model' })
  if (typeof model !== 'string' || model === '')
    throw invalid('model: Input should be a valid string', { param: 'model' })
  const facts = lookUp(model)
  if (facts === null) throw format.modelNotFound(model)
  if (facts.kind === undefined || facts.kind === kind) return facts
  throw new ProviderError(
    404,
    'invalid_request_error',
    `This is not ${kind === 'image' ? 'an' : 'a'} ${kind} model and thus not supported on this endpoint.`,
    {
      param: 'model',
    },
  )
}

/** Finds the `sandbox:` words in a prompt. Throws a 400 that lists the valid words if any is unknown. */
export function wordsOf(text: string): FoundWords {
  try {
    return readWords(text)
  } catch (error) {
    if (error instanceof UnknownWordError) throw invalid(error.message)
    throw error
  }
}
