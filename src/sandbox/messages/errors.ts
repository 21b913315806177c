/** Errors with the wording and JSON shape of the Messages API. */

import type { ErrorFormat, FaultKind } from '../format.ts'
import { ProviderError } from '../model.ts'

type Fault = readonly [status: number, type: string, message: string]

const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  '400': [400, 'invalid_request_error', 'messages: the request was refused on demand'],
  '401': [401, 'authentication_error', 'invalid x-api-key'],
  '403': [403, 'permission_error', 'Your API key does not have permission to use the specified resource.'],
  '404': [404, 'not_found_error', 'Not found'],
  '413': [413, 'request_too_large', 'Request exceeds the maximum size'],
  '429': [
    429,
    'rate_limit_error',
    'This request would exceed the rate limit of your organization. Please try again later.',
  ],
  '500': [500, 'api_error', 'Internal server error'],
  '502': [502, 'api_error', 'Bad gateway'],
  '503': [503, 'api_error', 'Service temporarily unavailable'],
  '529': [529, 'overloaded_error', 'Overloaded'],
  insufficient_quota: [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.',
  ],
  json: [400, 'invalid_request_error', 'The request body is not valid JSON'],
}

export const messagesErrors: ErrorFormat = {
  requestIdHeader: 'request-id',
  fault: kind => new ProviderError(...FAULTS[kind]),
  modelNotFound: model => new ProviderError(404, 'not_found_error', `model: ${model}`),
  errorBody: (error, requestId) => ({
    type: 'error',
    error: { type: error.type, message: error.message, ...(error.details === null ? {} : { details: error.details }) },
    request_id: requestId,
  }),
}
