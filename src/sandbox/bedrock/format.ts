/** The messages format on the cloud wire: model and streaming in the path, binary events, errors of another shape. */

import type { FaultKind, WireFormat } from '../format.ts'
import { isObject, type JsonObject, listOf, textOf } from '../json.ts'
import { messagesFormat } from '../messages/format.ts'
import { messagesEvents } from '../messages/write.ts'
import { invalid, ProviderError, type ReplyPlan, type StreamStep } from '../model.ts'
import { chunkFrame, exceptionFrame, FRAME_STREAM } from './frames.ts'

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

/** Fields that the other hosts of the format take and this one refuses. */
const REFUSED_FIELDS = ['betas', 'container', 'service_tier', 'fallbacks']

export const bedrockFormat: WireFormat = {
  ...messagesFormat,
  requestIdHeader: 'x-amzn-requestid',
  needsVersionHeader: false,
  streamContentType: FRAME_STREAM,
  fault: kind => new ProviderError(...FAULTS[kind]),
  modelNotFound: () => new ProviderError(400, 'ValidationException', 'The provided model identifier is invalid.'),
  errorBody: error => ({ message: error.message }),
  errorHeaders: error => ({ 'x-amzn-errortype': `${errorType(error)}:` }),
  errorEvent: () => exceptionFrame('modelStreamErrorException', 'The model stream broke off. Try your request again.'),
  check(body, facts) {
    checkWire(body)
    messagesFormat.check(bare(body), facts)
  },
  stream: streamFrames,
}

/** Throws when the body holds what belongs into the path, or what this host does not take. */
function checkWire(body: JsonObject): void {
  const wireFields = Object.keys(body).filter(isWireField)
  if (!wireFields.some(name => name.endsWith('_version'))) throw invalid('<vendor>_version: Field required')
  const betas = wireFields.find(name => name.endsWith('_beta'))
  if (betas !== undefined && !Array.isArray(body[betas])) throw invalid(`${betas}: Input should be a valid list`)
  for (const field of REFUSED_FIELDS)
    if (Object.hasOwn(body, field)) throw invalid(`${field}: Extra inputs are not permitted`)
  if (isObject(body.tool_choice) && Object.hasOwn(body.tool_choice, 'disable_parallel_tool_use')) {
    throw invalid(`tool_choice.${body.tool_choice.type}.disable_parallel_tool_use: Extra inputs are not permitted`)
  }
  for (const [index, tool] of listOf(body.tools).entries()) {
    if (isObject(tool) && Object.hasOwn(tool, 'eager_input_streaming')) {
      throw invalid(`tools.${index}.custom.eager_input_streaming: Extra inputs are not permitted`)
    }
  }
  const blocks = listOf(body.messages).flatMap(message => (isObject(message) ? listOf(message.content) : []))
  const byUrl = blocks.some(block => isObject(block) && isObject(block.source) && block.source.type === 'url')
  if (byUrl) throw invalid('messages: URL sources are not supported.')
}

function bare(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isWireField(name)))
}

/** `<vendor>_version` and `<vendor>_beta` stand in the body where other hosts have headers. */
function isWireField(name: string): boolean {
  return /^[a-z]+_(?:version|beta)$/.test(name)
}

function* streamFrames(plan: ReplyPlan, { body }: { body: JsonObject }): Generator<StreamStep> {
  const thinkingShown = !isObject(body.thinking) || body.thinking.display !== 'omitted'
  for (const { data, tokens } of messagesEvents(plan, { model: textOf(body.model), thinkingShown })) {
    if (data.type === 'ping') continue
    const metrics = {
      inputTokenCount: plan.usage.inputTokens,
      outputTokenCount: plan.usage.outputTokens,
      invocationLatency: 0,
      firstByteLatency: 0,
    }
    const event = data.type === 'message_stop' ? { ...data, 'amazon-bedrock-invocationMetrics': metrics } : data
    yield { wire: chunkFrame(event), tokens }
  }
}

function errorType(error: ProviderError): string {
  return error.type.endsWith('Exception') ? error.type : 'ValidationException'
}
