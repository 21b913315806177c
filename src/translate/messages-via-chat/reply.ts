/** A chat reply as a messages reply. */

import { argumentsFragment, argumentsObject } from '../../conversation/arguments.ts'
import { withoutFence } from '../../conversation/code-fence.ts'
import { splitTag } from '../../conversation/reasoning-tag.ts'
import { readReplyError } from '../../conversation/reply-error.ts'
import { stopReasonOf } from '../../conversation/stop-reasons.ts'
import { gatewayErrorOf } from '../../conversation/upstream-error.ts'
import { type UsageReport, usageReport } from '../../conversation/usage.ts'
import { GatewayError } from '../../errors.ts'
import { readUsage } from '../../formats/chat/usage.ts'
import { writeUsage } from '../../formats/messages/usage.ts'
import { arrayOrEmpty, isObject, type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { estimatedUsage } from '../estimate.ts'
import type { TranslationContext } from '../translator.ts'
import { CallIds } from './call-ids.ts'
import { type SpokenParts, spokenParts } from './reply-parts.ts'
import type { RequestFacts } from './request.ts'

export interface MessagesReply {
  readonly body: JsonObject
  readonly usage: UsageReport
}

/** Throws GatewayError when the upstream's 200 holds an error or is no reply. */
export function convertReply(reply: JsonObject, request: RequestFacts, context: TranslationContext): MessagesReply {
  const error = readReplyError(reply)
  if (error !== null) throw gatewayErrorOf(error)
  const choice = firstChoice(reply)
  const finishReason = textOrNull(choice?.finish_reason)
  // Some providers leave the message out of a reply that their filter has taken away.
  const message = objectOrNull(choice?.message) ?? (finishReason === 'content_filter' ? {} : null)
  if (message === null) throw new GatewayError('upstream_failed', { cause: 'a reply without choices' })

  const calls = toolCalls(message)
  const replyCall = request.replyTool === null ? undefined : calls.find(call => callName(call) === request.replyTool)
  const shownCalls = calls.filter(call => call !== replyCall)
  const refusal = textOrNull(message.refusal)
  const spoken = untagged(spokenParts(message), context.target.dialect.reasoning.tag)
  const text = replyCall ? argumentsFragment(objectOrNull(replyCall.function)?.arguments) : unwrap(spoken.text, request)
  const ids = new CallIds(request, context)
  const content: JsonObject[] = [
    ...(spoken.reasoning === '' ? [] : [{ type: 'thinking', thinking: spoken.reasoning, signature: '' }]),
    ...[text, refusal ?? ''].filter(part => part !== '').map(part => ({ type: 'text', text: part, citations: null })),
    ...shownCalls.map(call => toolUse(call, ids, request)),
  ]
  const usage = readUsage(reply, context.target.dialect.usage)
  const stopReason = stopReasonOf(finishReason, { hasToolCalls: shownCalls.length > 0, refused: refusal !== null })
  return {
    body: {
      id: `msg_${context.newId()}`,
      type: 'message',
      role: 'assistant',
      model: context.clientModel,
      content,
      stop_reason: stopReason,
      stop_sequence: null,
      usage: writeUsage(usage ?? estimatedUsage(context, JSON.stringify(content).length)),
    },
    usage: usageReport(usage, { final: true }),
  }
}

function untagged({ text, reasoning }: SpokenParts, tag: string | null): SpokenParts {
  if (tag === null) return { text, reasoning }
  const split = splitTag(text, tag)
  return { text: split.text, reasoning: reasoning + split.reasoning }
}

/** The choice with index 0, else the first; null without any. */
export function firstChoice(reply: JsonObject): JsonObject | null {
  const choices = arrayOrEmpty(reply.choices).filter(isObject)
  return choices.find(choice => choice.index === 0 || choice.index === undefined) ?? choices[0] ?? null
}

function toolCalls(message: JsonObject): JsonObject[] {
  const calls = arrayOrEmpty(message.tool_calls)
    .filter(isObject)
    .filter(call => callName(call) !== '')
  const legacy = objectOrNull(message.function_call)
  return calls.length === 0 && legacy !== null && textOrNull(legacy.name) !== null ? [{ function: legacy }] : calls
}

function callName(call: JsonObject): string {
  return textOrNull(objectOrNull(call.function)?.name) ?? ''
}

function toolUse(call: JsonObject, ids: CallIds, { names }: RequestFacts): JsonObject {
  return {
    type: 'tool_use',
    id: ids.assign(textOrNull(call.id) ?? '', ids.signatureOf(call)),
    name: names.client(callName(call)),
    input: argumentsObject(objectOrNull(call.function)?.arguments),
  }
}

function unwrap(text: string, { unwrapsFence }: RequestFacts): string {
  return unwrapsFence ? withoutFence(text) : text
}
