/** The errors of the Bedrock API, in its wording and shape. */

import type { ErrorFormat, FaultKind } from '../format.ts'
import { ProviderError } from '../model.ts'

type Fault = readonly [status: number, type: string, message: string]

const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  '400': [400, 'ValidationException', 'The request was refused on demand.'],
  '401': [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'],
  '403': [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID."],
  '404': [
    404,
    'ResourceNotFoundException',
    'Could not resolve the foundation model from the provided model identifier.',
  ],
  '413': [413, 'ValidationException', 'Input is too long for requested model.'],
  '429': [429, 'ThrottlingException', 'Too many requests, please wait before trying again.'],
  '500': [
    500,
    'InternalServerException',
    'The system encountered an unexpected error during processing. Try your request again.',
  ],
  '502': [502, 'InternalServerException', 'Bad gateway'],
  '503': [503, 'ServiceUnavailableException', 'The service is temporarily unavailable. Try again later.'],
  '529': [529, 'ModelErrorException', 'Overloaded'],
  insufficient_quota: [
    429,
    'ServiceQuotaExceededException',
    'Too many tokens per day, please wait before trying again.',
  ],
  json: [400, 'ValidationException', 'Malformed input request, please reformat your input and try again.'],
}

export const bedrockErrors: ErrorFormat = {
  requestIdHeader: 'x-amzn-requestid',
  fault: kind => new ProviderError(...FAULTS[kind]),
  modelNotFound: () => new ProviderError(400, 'ValidationException', 'The provided model identifier is invalid.'),
  errorBody: error => ({ message: error.message }),
  errorHeaders: error => ({ 'x-amzn-errortype': `${errorType(error)}:` }),
}

function errorType(error: ProviderError): string {
  return error.type.endsWith('Exception') ? error.type : 'ValidationException'
}
