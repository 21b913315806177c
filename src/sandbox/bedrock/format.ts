/** The messages format on the Bedrock wire: model and streaming flag in the path, binary events, a different error shape. */

import type { ReplyContext, WireFormat } from '../format.ts'
import { isObject, type JsonObject, listOf } from '../json.ts'
import { messagesFormat, optionsOf } from '../messages/format.ts'
import { messagesEvents } from '../messages/write.ts'
import { invalid, type ReplyPlan, type StreamStep } from '../model.ts'
import { bedrockErrors } from './errors.ts'
import { chunkFrame, exceptionFrame, FRAME_STREAM } from './frames.ts'

/** Fields that other hosts of the messages format accept and Bedrock refuses. */
const REFUSED_FIELDS = ['betas', 'container', 'service_tier', 'fallbacks']

export const bedrockFormat: WireFormat = {
  ...messagesFormat,
  ...bedrockErrors,
  needsVersionHeader: false,
  streamContentType: FRAME_STREAM,
  errorEvent: () => exceptionFrame('modelStreamErrorException', 'The model stream broke off. Try your request again.'),
  check(body, facts) {
    checkWire(body)
    messagesFormat.check(bare(body), facts)
  },
  stream: streamFrames,
}

/** Throws ProviderError when the body has a field that belongs in the path, or one that Bedrock refuses. */
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

/** Whether a field is `<vendor>_version` or `<vendor>_beta`, which are headers on other hosts. */
function isWireField(name: string): boolean {
  return /^[a-z]+_(?:version|beta)$/.test(name)
}

function* streamFrames(plan: ReplyPlan, context: ReplyContext): Generator<StreamStep> {
  for (const { data, tokens } of messagesEvents(plan, optionsOf(context))) {
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
