/** The messages format as the server uses it. */

import type { FaultKind, WireFormat } from '../format.ts'
import { isObject, textOf } from '../json.ts'
import { ProviderError } from '../model.ts'
import { checkMessagesRequest } from './check.ts'
import { readMessagesPrompt } from './read.ts'
import { messagesError, messagesErrorEvent, messagesReply, messagesStream } from './write.ts'

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

export const messagesFormat: WireFormat = {
  requestIdHeader: 'request-id',
  needsVersionHeader: true,
  check: checkMessagesRequest,
  read: readMessagesPrompt,
  fault: kind => new ProviderError(...FAULTS[kind]),
  modelNotFound: model => new ProviderError(404, 'not_found_error', `model: ${model}`),
  errorBody: messagesError,
  errorEvent: messagesErrorEvent,
  reply: (plan, { body }) =>
    messagesReply(plan, { model: textOf(body.model), thinkingShown: thinkingShown(body.thinking) }),
  stream: (plan, { body }) =>
    messagesStream(plan, { model: textOf(body.model), thinkingShown: thinkingShown(body.thinking) }),
}

function thinkingShown(thinking: unknown): boolean {
  return !isObject(thinking) || thinking.display !== 'omitted'
}
