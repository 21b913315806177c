/** The table of every error that a client can get. All modules throw GatewayError; only `http/` turns it into an HTTP reply. */

export type ErrorCode = keyof typeof ERRORS

interface ErrorRow {
  readonly status: number
  readonly type: string
  /** Default message. Whoever throws the error may pass a more specific one. */
  readonly message: string
  /** Whether a retry cannot help. If so, `x-should-retry: false` is sent, except with a `retry-after` of at most a minute. */
  readonly final: boolean
  /** Default seconds for `retry-after`; every 429 has a value. */
  readonly retryAfterSeconds?: number
}

/**
 * Longest `retry-after` that both the OpenAI and the Anthropic SDK obey. OpenAI's ignores longer ones (openai 7.55.0,
 * client.js, read 2026-11-21).
 */
const SHORT_WAIT_SECONDS_MAX = 60

export const ERRORS = {
  malformed_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request body is not valid JSON.',
    final: true,
  },
  invalid_request: { status: 400, type: 'invalid_request_error', message: 'The request is not valid.', final: true },
  wrong_endpoint: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This model is not served on this endpoint.',
    final: true,
  },
  model_not_found: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This model is not in the catalogue.',
    final: true,
  },
  upstream_refused: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The model refused the request.',
    final: true,
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    message: "The conversation exceeds the model's maximum context length; reduce the length of the messages.",
    final: true,
  },
  previous_response_not_found: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'previous_response_id is not supported: this service stores no responses. Send the whole conversation in input.',
    final: true,
  },
  thread_unsupported: {
    status: 400,
    type: 'invalid_request_error',
    message: 'Message threads are not available with this model; send the whole conversation.',
    final: true,
  },
  thread_not_found: {
    status: 404,
    type: 'not_found_error',
    message: 'There is no such message thread; send the whole conversation.',
    final: true,
  },
  authentication_failed: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key is missing, wrong or revoked.',
    final: true,
  },
  key_disabled: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key is paused. Its owner can switch it on again in the dashboard under Keys.',
    final: true,
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key has expired. Its owner can set a later date in the dashboard under Keys.',
    final: true,
  },
  foreign_page: {
    status: 403,
    type: 'permission_error',
    message: 'This request did not come from one of our pages, so it was refused.',
    final: true,
  },
  notification_refused: {
    status: 401,
    type: 'authentication_error',
    message: 'The signature of this notification is missing, wrong or too old.',
    final: false,
  },
  notification_unreadable: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This notification is authentic but could not be parsed; it was kept for the operator.',
    final: false,
  },
  insufficient_balance: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The wallet balance is used up.',
    final: true,
  },
  spend_cap_reached: {
    status: 402,
    type: 'insufficient_balance',
    message: 'This API key has spent its limit.',
    final: true,
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not call this model.',
    final: true,
  },
  route_not_found: { status: 404, type: 'not_found_error', message: 'There is no such path.', final: true },
  response_not_found: {
    status: 404,
    type: 'not_found_error',
    message: 'There is no such response: this service stores none.',
    final: true,
  },
  unknown_model: { status: 404, type: 'not_found_error', message: 'There is no such model.', final: true },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This path does not support this method.',
    final: true,
  },
  request_timeout: {
    status: 408,
    type: 'timeout_error',
    message: 'The request body did not arrive in time.',
    final: false,
  },
  request_too_large: {
    status: 413,
    type: 'request_too_large',
    message: 'The request body exceeds the limit.',
    final: true,
  },
  unsupported_encoding: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The content encoding is not supported.',
    final: true,
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The content type is not valid; send JSON as application/json.',
    final: true,
  },
  upgrade_refused: {
    status: 426,
    type: 'invalid_request_error',
    message: 'WebSockets are not served here; send the same request as a POST, with stream: true for events.',
    final: true,
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are too large.',
    final: true,
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many calls; try again later.',
    final: false,
    retryAfterSeconds: 60,
  },
  funds_held: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The balance is reserved for calls that are still running.',
    final: false,
    retryAfterSeconds: 5,
  },
  spend_cap_held: {
    status: 429,
    type: 'rate_limit_error',
    message: "The rest of this API key's limit is reserved for calls that are still running.",
    final: false,
    retryAfterSeconds: 5,
  },
  upstream_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The model is busy; try again later.',
    final: false,
    // The default cooldown of the credential that was rate-limited.
    retryAfterSeconds: 10,
  },
  internal: {
    status: 500,
    type: 'api_error',
    message: 'The gateway failed to handle this call. It was not charged.',
    final: false,
  },
  upstream_failed: {
    status: 502,
    type: 'api_error',
    message: 'The model cannot be reached at the moment.',
    final: false,
  },
  upstream_misconfigured: {
    status: 502,
    type: 'api_error',
    message: 'The model is not available at the moment; the operator has been notified.',
    final: true,
  },
  upstream_overloaded: {
    status: 503,
    type: 'service_unavailable',
    message: 'The model is overloaded; try again later.',
    final: false,
  },
  ledger_unavailable: {
    status: 503,
    type: 'service_unavailable',
    message: 'Billing is not available at the moment; nothing was charged.',
    final: false,
  },
  maintenance: {
    status: 503,
    type: 'service_unavailable',
    message: 'The service is under maintenance; try again later. Nothing was charged.',
    final: true,
  },
  draining: {
    status: 503,
    type: 'service_unavailable',
    message: 'This instance is shutting down; try again.',
    final: false,
  },
} as const satisfies Record<string, ErrorRow>

/** Which limit a call ran into, and facts that a client can act on. Amounts are decimal VND. */
export interface LimitFacts {
  readonly source: 'wallet' | 'key' | 'calls_per_minute' | 'calls_in_flight'
  readonly limit?: string | number
  readonly used?: string
  /** ISO time at which the limit resets; null when it never does. */
  readonly resetsAt?: string | null
}

export interface ErrorDetails {
  /** Replaces the table's message. */
  message?: string
  /** Seconds for `retry-after`, replacing the table's. */
  retryAfterSeconds?: number
  /** Status to send instead of the table's; used to pass on an upstream's 413 or 422. */
  status?: number
  /** Machine-readable details for the body (`error.details`), as SDKs read them. */
  details?: Record<string, unknown>
  /** The limit that the call ran into, for the body (`error.metadata`) and a header. */
  limit?: LimitFacts
  /** The faulty field (`error.param`), where clients look for it. */
  param?: string
  /** The upstream's own code, sent instead of ours where clients react to it. */
  upstreamCode?: string
  /**
   * HTTP status of the upstream's error. For an error that was sent under status 200, the equivalent status. Failover depends
   * on it. Never shown to clients.
   */
  upstreamStatus?: number
  /** For the log only; never sent to a client and never contains a prompt or a reply. */
  cause?: unknown
}

/**
 * Longest message, in characters. Many repeat words of the request, and a reply as long as a request would stay in memory until its
 * client has read it.
 */
const MESSAGE_LENGTH_MAX = 5_000

export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(shortened(details.message ?? ERRORS[code].message), { cause: details.cause })
    this.name = 'GatewayError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return this.details.status ?? ERRORS[this.code].status
  }

  get type(): string {
    return ERRORS[this.code].type
  }

  /** The `error.code` that the client sees. */
  get clientCode(): string {
    return this.details.upstreamCode ?? this.code
  }

  /** Seconds for the `retry-after` header; undefined omits it. */
  get retryAfterSeconds(): number | undefined {
    const row: ErrorRow = ERRORS[this.code]
    return this.details.retryAfterSeconds ?? row.retryAfterSeconds
  }

  /** Whether clients are told not to retry. */
  get final(): boolean {
    return ERRORS[this.code].final && (this.retryAfterSeconds ?? Number.POSITIVE_INFINITY) > SHORT_WAIT_SECONDS_MAX
  }
}

function shortened(message: string): string {
  return message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()}…` : message
}
