/** A messages reply as a chat reply. */

import { withoutFence } from '../../conversation/code-fence.ts'
import { readReplyError } from '../../conversation/reply-error.ts'
import { finishReasonOf } from '../../conversation/stop-reasons.ts'
import { gatewayErrorOf } from '../../conversation/upstream-error.ts'
import type { UsageReport } from '../../conversation/usage.ts'
import { GatewayError } from '../../errors.ts'
import { writeUsage } from '../../formats/chat/usage.ts'
import { reportOf } from '../../formats/messages/usage.ts'
import { isObject, type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { estimatedUsage } from '../estimate.ts'
import type { TranslationContext } from '../translator.ts'
import type { RequestFacts } from './request.ts'

export interface ChatReply {
  readonly body: JsonObject
  readonly usage: UsageReport
}

/** Throws GatewayError when the upstream's 200 holds an error or is no reply. */
export function convertReply(reply: JsonObject, request: RequestFacts, context: TranslationContext): ChatReply {
  const error = readReplyError(reply)
  if (error !== null) throw gatewayErrorOf(error)
  if (!Array.isArray(reply.content)) throw new GatewayError('upstream_failed', { cause: 'a reply without content' })
  const blocks = reply.content.filter(isObject)
  const replyCall = request.replyTool === null ? null : blocks.find(block => isReplyCall(block, request))
  const calls = blocks
    .filter(block => block.type === 'tool_use' && block !== replyCall)
    .map(call => chatCall(call, request, context))
  const text = replyCall ? JSON.stringify(replyCall.input ?? {}) : joinText(blocks, request)
  const reasoning = blocks.map(block => (block.type === 'thinking' ? textOrNull(block.thinking) : null)).filter(isText)
  const stopped = textOrNull(reply.stop_reason)
  const stopReason = replyCall && stopped === 'tool_use' ? 'end_turn' : stopped
  const usage = reportOf(reply)
  const argumentsLength = calls.reduce((sum, call) => sum + JSON.stringify(call).length, 0)
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('\n\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    body: {
      id: `chatcmpl-${context.newId()}`,
      object: 'chat.completion',
      created: context.nowSeconds,
      model: context.clientModel,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(stopReason) }],
      usage: writeUsage(
        usage.state === 'missing' ? estimatedUsage(context, text.length + argumentsLength) : usage.usage,
      ),
    },
    usage,
  }
}

export function isReplyCall(block: JsonObject, { replyTool }: RequestFacts): boolean {
  return replyTool !== null && block.type === 'tool_use' && block.name === replyTool
}

function joinText(blocks: readonly JsonObject[], { unwrapsFence }: RequestFacts): string {
  const text = blocks.map(block => (block.type === 'text' ? (textOrNull(block.text) ?? '') : '')).join('')
  return unwrapsFence ? withoutFence(text) : text
}

function chatCall(block: JsonObject, { names }: RequestFacts, { newId }: TranslationContext): JsonObject {
  return {
    id: textOrNull(block.id) ?? `call_${newId()}`,
    type: 'function',
    function: {
      name: names.client(textOrNull(block.name) ?? ''),
      arguments: JSON.stringify(objectOrNull(block.input) ?? {}),
    },
  }
}

function isText(value: string | null): value is string {
  return value !== null
}
