/** Reads an upstream's error body in any of the shapes that providers use. */

import {
  arrayOrEmpty,
  atPointer,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOrNull,
  parseJson,
  textOrNull,
} from '../lib/json.ts'

/** The fields of an upstream's error; '' for a missing field. Secrets are not masked yet. */
export interface ErrorBody {
  readonly message: string
  /** `error.type` in lower case. */
  readonly type: string
  /** `error.code` in lower case; numbers as text. */
  readonly code: string
  /** `error.param`, which names the offending field. */
  readonly param: string
  /** `error.details`, which SDKs read. */
  readonly details: JsonObject | null
}

/** JSON pointers to the error's fields, for a provider whose error bodies have an unusual shape. */
export interface ErrorPlaces {
  readonly message: string
  readonly type: string | null
}

/** Bodies longer than this, in characters, are not parsed, because they are unlikely to be errors. */
const BODY_LENGTH_MAX = 1_000_000

/**
 * Reads an error body. Uses `places` if they lead to a message, else tries the known shapes: `{error: {…}}` (all formats, also
 * inside an array); `{base_resp: {…}}`; `{errors: […]}`; `{code, msg}`; `{detail}` (also a list); `{message}`; `error` as a
 * string. Null for anything else, such as HTML.
 */
export function readErrorText(body: string, places: ErrorPlaces | null = null): ErrorBody | null {
  if (body.length > BODY_LENGTH_MAX) return null
  const value = parseJson(body)
  if (value === undefined) return null
  return (places && readPlaces(value, places)) ?? readErrorValue(value)
}

/** Reads the error at these places. Null if they hold no message. */
function readPlaces(value: JsonValue, places: ErrorPlaces): ErrorBody | null {
  const message = textOrNull(atPointer(value, places.message))
  if (message === null) return null
  const type = places.type === null ? undefined : atPointer(value, places.type)
  return errorBody({ message, ...(typeof type === 'number' ? { code: type } : { type: textOrNull(type) ?? '' }) })
}

/** Reads the error in parsed JSON: an error body, a 200 response or the data of a stream event. Null if it reports no error. */
export function readErrorValue(value: JsonValue): ErrorBody | null {
  const body = Array.isArray(value) ? value[0] : value
  if (!isObject(body)) return null
  if (isObject(body.error)) return readErrorObject(body.error)
  if (textOrNull(body.error) !== null) return errorBody({ ...body, message: textOrNull(body.message) ?? body.error })
  const first = arrayOrEmpty(body.errors)[0]
  if (isObject(first)) return readErrorObject(first)
  if (typeof first === 'string') return errorBody({ message: first })
  const outcome = objectOrNull(body.base_resp)
  if (outcome && outcome.status_code !== 0 && outcome.status_code !== undefined) {
    return errorBody({ message: outcome.status_msg, code: outcome.status_code })
  }
  if (body.detail !== undefined && body.detail !== null) return errorBody({ message: detailText(body.detail) })
  if (textOrNull(body.message) !== null) return errorBody(body)
  if (textOrNull(body.Message) !== null) return errorBody({ message: body.Message })
  if (body.code !== undefined && textOrNull(body.msg) !== null) return errorBody({ ...body, message: body.msg })
  return null
}

function readErrorObject(error: JsonObject): ErrorBody {
  const outer = errorBody(error)
  // Aggregators report a generic error and put the error body of the actual provider into `metadata.raw`.
  const raw = textOrNull(objectOrNull(error.metadata)?.raw)
  const inner = raw === null ? null : readErrorText(raw)
  if (inner === null) return outer
  const { message, type, param } = inner
  return { ...outer, message: message || outer.message, type: type || outer.type, param: param || outer.param }
}

function errorBody(error: JsonObject): ErrorBody {
  return {
    message: textOrNull(error.message) ?? '',
    type: (textOrNull(error.type) ?? textOrNull(error.status) ?? '').toLowerCase(),
    code: typeof error.code === 'number' ? String(error.code) : (textOrNull(error.code) ?? '').toLowerCase(),
    param: textOrNull(error.param) ?? '',
    details: objectOrNull(error.details),
  }
}

function detailText(detail: JsonValue): string {
  if (typeof detail === 'string') return detail
  const parts = arrayOrEmpty(detail).map(item => {
    const problem = objectOrNull(item)
    const place = arrayOrEmpty(problem?.loc).join('.')
    return [place, textOrNull(problem?.msg) ?? ''].filter(part => part !== '').join(': ')
  })
  return parts.filter(part => part !== '').join('; ')
}
