/** Errors in the wording and shape of the chat completions provider. */

import type { FaultKind } from '../format.ts'
import { ProviderError } from '../model.ts'

type Fault = readonly [status: number, type: string, message: string, code: string | null]

const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  '400': [400, 'invalid_request_error', 'The request was refused on demand.', 'invalid_value'],
  '401': [401, 'invalid_request_error', 'Incorrect API key provided.', 'invalid_api_key'],
  '403': [
    403,
    'invalid_request_error',
    'Country, region, or territory not supported',
    'unsupported_country_region_territory',
  ],
  '404': [404, 'invalid_request_error', 'Invalid URL', null],
  '413': [413, 'invalid_request_error', 'Request Entity Too Large', null],
  '429': [
    429,
    'requests',
    'Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1.',
    'rate_limit_exceeded',
  ],
  '500': [500, 'server_error', 'The server had an error while processing your request. Sorry about that!', null],
  '502': [502, 'server_error', 'Bad gateway', null],
  '503': [503, 'service_unavailable_error', 'The server is currently overloaded. Please try again later.', null],
  '529': [529, 'server_error', 'Overloaded', null],
  insufficient_quota: [
    429,
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
    'insufficient_quota',
  ],
  json: [400, 'invalid_request_error', 'We could not parse the JSON body of your request.', null],
}

/** Errors of all endpoints of this provider, images and speech included. */
export const chatErrors = {
  requestIdHeader: 'x-request-id',
  fault: (kind: FaultKind) => {
    const [status, type, message, code] = FAULTS[kind]
    return new ProviderError(status, type, message, { code })
  },
  modelNotFound: (model: string) =>
    new ProviderError(
      404,
      'invalid_request_error',
      `The model \`${model}\` does not exist or you do not have access to it.`,
      {
        code: 'model_not_found',
      },
    ),
  errorBody: ({ message, type, param, code }: ProviderError) => ({ error: { message, type, param, code } }),
}
