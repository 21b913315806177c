/** Turns an upstream's error, from a body or a stream, into the client's error. */

import { type ErrorCode, GatewayError } from '../errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import { type ErrorBody, type ErrorPlaces, readErrorText, readErrorValue } from './error-body.ts'
import { maskSecrets } from './mask.ts'
import { isNamedOperatorProblem, operatorTextAtStart, operatorTextIn, saysInRequest } from './operator-problem.ts'
import { retryAfterSeconds, waitInText } from './retry-after.ts'

export type UpstreamErrorKind =
  /** The upstream refused the client's request; the client may see the status and the text. */
  | 'refused'
  /** Refused because the input exceeds the model's context. */
  | 'context_overflow'
  | 'too_large'
  | 'rate_limited'
  | 'overloaded'
  /** A problem for the operator, with credentials, credit or the catalogue; never shown to clients. */
  | 'operator'
  | 'failed'

export interface UpstreamError {
  readonly kind: UpstreamErrorKind
  /** The upstream's HTTP status. For errors in a stream or in a 200 reply, the status that corresponds to them. */
  readonly status: number
  /** Message for the client, with secrets masked; null for a generic one. */
  readonly message: string | null
  /** `error.details`, which SDKs read; null unless the client may see the error. */
  readonly details: JsonObject | null
  /** The provider's error code, if clients act on it; null unless the client may see the error. */
  readonly code: string | null
  /** The offending field, in the provider's terms; null unless the client may see the error. */
  readonly param: string | null
  readonly retryAfterSeconds: number | null
  /** The upstream's error type and code, for the log: short identifiers, never its text. */
  readonly label: string
}

export interface UpstreamFailure {
  readonly status: number
  readonly body: string
  /** Response headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Current time in milliseconds since 1970, needed if `retry-after` is a date. */
  readonly nowMs: number
  /** Exact strings to mask in the error's text, such as the credential in use. */
  readonly secrets?: readonly string[]
  /** The request that the upstream refused, to tell the client's own words in the error from the provider's. */
  readonly request?: Buffer
  /** Paths of the error fields in this provider's error bodies. If null or omitted, the usual shapes are tried. */
  readonly places?: ErrorPlaces | null
}

/** Reads the error of a reply whose status is not 2xx. */
export function readUpstreamFailure(failure: UpstreamFailure): UpstreamError {
  const body = readErrorText(failure.body, failure.places) ?? NO_BODY
  if (refusesContent(failure.status, body)) return CONTENT_REFUSED
  const wait = retryAfterSeconds(failure.headers ?? {}, failure.nowMs)
  const type = body.type || errorTypeHeader(failure.headers?.['x-amzn-errortype'])
  const { status, secrets = [], request = null } = failure
  return classify({ ...body, type }, { status, wait, secrets, request })
}

/** AWS sends the error's type in a header, such as `ThrottlingException:http://…`. */
function errorTypeHeader(header: string | readonly string[] | undefined): string {
  const text = typeof header === 'string' ? header : (header?.[0] ?? '')
  return (text.split(':')[0] as string).trim().toLowerCase()
}

/**
 * Reads a parsed value that is known to be an error (see `reply-error.ts`). The status is derived from its type or code. Null
 * if the value has no known shape.
 */
export function readUpstreamErrorValue(value: JsonValue, secrets: readonly string[] = []): UpstreamError | null {
  const body = readErrorValue(value)
  return body && classify(body, { status: impliedStatus(body), wait: null, secrets, request: null })
}

/** Builds the error for an upstream failure that came without error text. `label` describes the failure in the log. */
export function failedError(label: string): UpstreamError {
  return { ...NOT_SHOWN, kind: 'failed', status: 500, retryAfterSeconds: null, label }
}

/** Reads the `error` member of a reply that is known to have failed. */
export function readFailedError(error: JsonValue | undefined, secrets: readonly string[] = []): UpstreamError {
  const read = isObject(error) ? readUpstreamErrorValue({ error }, secrets) : null
  return read ?? failedError('a failed response')
}

const NOT_SHOWN = { message: null, details: null, code: null, param: null } as const

/** Converts to the error that the client gets, with a generic message if the upstream's must stay hidden. */
export function gatewayErrorOf(error: UpstreamError): GatewayError {
  const code = CODES[error.kind]
  return new GatewayError(code, {
    ...(error.message !== null && { message: error.message }),
    ...(error.retryAfterSeconds !== null && { retryAfterSeconds: error.retryAfterSeconds }),
    ...(KEEPS_STATUS.has(code) && { status: error.status }),
    ...(error.details !== null && { details: error.details }),
    ...(error.code !== null && { upstreamCode: error.code }),
    ...(error.param !== null && { param: error.param }),
    upstreamStatus: error.status,
    cause: `upstream ${error.status} ${error.label}`.trim(),
  })
}

/** Errors about the client's request, which keep the upstream's status. */
const KEEPS_STATUS: ReadonlySet<ErrorCode> = new Set([
  'upstream_refused',
  'context_length_exceeded',
  'request_too_large',
])

const CODES = {
  refused: 'upstream_refused',
  context_overflow: 'context_length_exceeded',
  too_large: 'request_too_large',
  rate_limited: 'upstream_rate_limited',
  overloaded: 'upstream_overloaded',
  operator: 'upstream_misconfigured',
  failed: 'upstream_failed',
} as const satisfies Record<UpstreamErrorKind, ErrorCode>

/**
 * Whether a 403 refuses the content of the request, and not our credential (xAI: "Content violates usage guidelines. Team: …, API
 * key ID: …, Failed check: …"; reported in inspect_ai#2267 and sub2api#5359, read 2026-11).
 */
function refusesContent(status: number, { message }: ErrorBody): boolean {
  return status === 403 && message.toLowerCase().includes('violates usage guidelines')
}

/** As other providers report it. The text is our own, because the provider's names the operator's account. */
const CONTENT_REFUSED: UpstreamError = {
  ...NOT_SHOWN,
  kind: 'refused',
  status: 400,
  message: "The content violates the provider's usage guidelines.",
  code: 'content_policy_violation',
  retryAfterSeconds: null,
  label: 'content_policy_violation',
}

const NO_BODY: ErrorBody = { message: '', type: '', code: '', param: '', details: null }

const OVERFLOW_CODES = new Set(['context_length_exceeded', 'model_max_prompt_tokens_exceeded'])
/** Phrases that clients look for to detect a context overflow, so that they can shorten the conversation. */
const OVERFLOW_TEXTS_KNOWN = [
  'prompt is too long',
  'exceed context limit',
  'maximum context length',
  'context_length_exceeded',
  'exceeds the context window',
  'maximum prompt length',
  'range of input length should be',
  'reduce the length of the messages',
]
const OVERFLOW_TEXTS = [
  ...OVERFLOW_TEXTS_KNOWN,
  'context window exceeds',
  'exceeds the maximum number of tokens allowed',
  'exceeded model token limit',
  'input is too long for requested model',
  'prompt exceeds max length',
]
const OVERFLOW_ADVICE = "This exceeds the model's maximum context length; reduce the length of the messages."

/** Longest `error.details`, in characters of JSON. SDKs read a code and a few names. */
const DETAILS_LENGTH_MAX = 4_000
/** Longest field name shown to clients, in characters. */
const PARAM_LENGTH_MAX = 200

/**
 * Error codes that clients act on, with the status to assume if the upstream sends none. The client gets the code of a refusal
 * unchanged; any other error gets one of our own codes. Sources, read 2026-11: Codex 0.169; the error codes in `openai` 7.57.0
 * (`ResponseError`, image types); the content filters of Azure OpenAI.
 */
const KNOWN_CODES: Readonly<Record<string, number>> = {
  context_length_exceeded: 400,
  server_is_overloaded: 503,
  slow_down: 503,
  rate_limit_exceeded: 429,
  ...refusals('invalid_prompt', 'cyber_policy', 'bio_policy'),
  ...refusals('content_filter', 'content_policy_violation', 'moderation_blocked', 'image_content_policy_violation'),
  ...refusals('invalid_encrypted_content', 'previous_response_not_found', 'unsupported_parameter', 'unsupported_value'),
  ...refusals('invalid_image', 'invalid_image_format', 'invalid_image_mode', 'invalid_image_url'),
  ...refusals('invalid_base64_image', 'unsupported_image_media_type', 'image_file_not_found', 'image_file_too_large'),
  ...refusals(
    'image_parse_error',
    'image_too_large',
    'image_too_small',
    'empty_image_file',
    'failed_to_download_image',
  ),
}

function refusals(...codes: readonly string[]): Record<string, number> {
  return Object.fromEntries(codes.map(code => [code, 400]))
}

/** Status to assume for an error that comes without a status, by its type or code. */
const TYPE_STATUS: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  throttlingexception: 429,
  tokens: 429,
  requests: 429,
  invalid_request_error: 400,
  validationexception: 400,
  request_too_large: 413,
  not_found_error: 404,
  service_unavailable_error: 503,
  serviceunavailableexception: 503,
}

function impliedStatus(body: ErrorBody): number {
  const byCode = /^[45]\d\d$/.test(body.code) ? Number(body.code) : undefined
  const status = KNOWN_CODES[body.code] ?? TYPE_STATUS[body.type] ?? TYPE_STATUS[body.code] ?? byCode ?? 500
  return isNamedOperatorProblem(body) || operatorTextAtStart(body) !== null ? 403 : status
}

interface Circumstances {
  readonly status: number
  readonly wait: number | null
  readonly secrets: readonly string[]
  /** The request, to find the client's own words in the error; null if unknown. */
  readonly request: Buffer | null
}

function classify(body: ErrorBody, { status, wait, secrets, request }: Circumstances): UpstreamError {
  const words = request === null ? operatorTextAtStart(body) : operatorTextIn(body)
  // Providers quote the request in their errors. If a client could make an error look like the operator's problem, one request
  // would put the credential out of service for everybody.
  const isEcho = words !== null && request !== null && saysInRequest(request, words)
  const isOperators = isNamedOperatorProblem(body) || (words !== null && !isEcho)
  const kind = status < 500 && isOperators ? 'operator' : kindOf(body, status)
  const visible = kind === 'refused' || kind === 'context_overflow' || kind === 'too_large'
  const shown = visible && {
    // In case it is the provider's own text after all, it stays hidden.
    message: isEcho ? null : visibleMessage(kind, maskSecrets(body.message, secrets)),
    details: body.details && shownDetails(body.details, secrets),
    code: kind === 'refused' && Object.hasOwn(KNOWN_CODES, body.code) ? body.code : null,
    param: body.param === '' ? null : maskSecrets(body.param, secrets).slice(0, PARAM_LENGTH_MAX),
  }
  return {
    ...(shown || NOT_SHOWN),
    kind,
    status,
    retryAfterSeconds: wait ?? (asksToWait(kind) ? waitInText(body.message) : null),
    label: [body.type, body.code].filter(word => /^[a-z0-9_.-]{1,40}$/.test(word)).join(' '),
  }
}

/** The details if clients may have them; null if they are too long, contain secrets, or are nested too deeply to be written. */
function shownDetails(details: JsonObject, secrets: readonly string[]): JsonObject | null {
  try {
    const text = JSON.stringify(details)
    return text.length <= DETAILS_LENGTH_MAX && maskSecrets(text, secrets) === text ? details : null
  } catch {
    return null
  }
}

function asksToWait(kind: UpstreamErrorKind): boolean {
  return kind === 'rate_limited' || kind === 'overloaded'
}

/**
 * Returns the upstream's message. If it reports a context overflow in words that clients do not recognise, appends words that
 * they do.
 */
function visibleMessage(kind: UpstreamErrorKind, message: string): string | null {
  if (kind === 'context_overflow' && !OVERFLOW_TEXTS_KNOWN.some(words => message.toLowerCase().includes(words))) {
    return message === '' ? OVERFLOW_ADVICE : `${message} ${OVERFLOW_ADVICE}`
  }
  return message === '' ? null : message
}

function kindOf(body: ErrorBody, status: number): UpstreamErrorKind {
  switch (status) {
    case 400:
    case 422:
      if (isOverflow(body)) return 'context_overflow'
      return body.type === 'overloaded_error' ? 'overloaded' : 'refused'
    case 413:
      return isOverflow(body) ? 'context_overflow' : 'too_large'
    case 404:
      // With an `error_code`, the upstream has lost a message thread that it stored. Clients must see this error, because their
      // SDKs then resend the whole conversation.
      return typeof body.details?.error_code === 'string' || isReference(body) ? 'refused' : 'operator'
    case 409:
      return typeof body.details?.error_code === 'string' ? 'refused' : 'failed'
    case 401:
    case 402:
    case 403:
    case 405:
    case 410:
    case 415:
      return 'operator'
    case 429:
      return 'rate_limited'
    case 503:
    case 529:
      return 'overloaded'
    default:
      return 'failed'
  }
}

/** Something stored at the provider to which the client refers. */
const STORED = /^(item|(previous )?response|conversation|prompt|file|container|skill)\b.{0,200}\bnot found\b/is

/**
 * Whether a 404 is about something that the client refers to, such as an item or an earlier response, and not about the model or
 * the path, for which providers name no field or `model` (OpenAI's Responses API, Anthropic's Files API, read 2026-11).
 */
function isReference({ param, message }: ErrorBody): boolean {
  return (param !== '' && param !== 'model') || STORED.test(message)
}

function isOverflow(body: ErrorBody): boolean {
  const text = body.message.toLowerCase()
  return OVERFLOW_CODES.has(body.code) || OVERFLOW_TEXTS.some(words => text.includes(words))
}
