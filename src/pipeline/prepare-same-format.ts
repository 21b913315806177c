/**
 * Prepares a call whose client and upstream speak the same format: bytes pass through unchanged, except where the target
 * requires changes.
 */

import { outputTextOf } from '../conversation/output-text.ts'
import { readReplyError } from '../conversation/reply-error.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import { type UsageFacts, usageReport } from '../conversation/usage.ts'
import { GatewayError } from '../errors.ts'
import { ChatRelay } from '../formats/chat/relay.ts'
import { undoneReply as undoneChat } from '../formats/chat/undo.ts'
import { readUsage as readChatUsage, writeUsage as writeChatUsage } from '../formats/chat/usage.ts'
import { MessagesRelay } from '../formats/messages/relay.ts'
import { undoneReply as undoneMessages } from '../formats/messages/undo.ts'
import { reportOf as messagesReportOf, modelPlaces } from '../formats/messages/usage.ts'
import { byteText, parseUndecoded } from '../lib/byte-text.ts'
import type { BodyEdit } from '../lib/edit-tree.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { arrayOrEmpty, isObject, type JsonObject, numberOrNull, parseJson } from '../lib/json.ts'
import { editJson } from '../lib/json-text.ts'
import { countTokens } from '../lib/tokens.ts'
import { planReadable } from '../translate/plain-body.ts'
import type { ChatFormat } from '../translate/translator.ts'
import { isPrefilled } from './prefilled.ts'
import type { Preparation, PreparedCall, ReadReply } from './prepared-call.ts'
import { billedUsage, usedByStream } from './stream-result.ts'
import { bodyFor, withBody } from './upstream-body.ts'

const UNDONE = { messages: undoneMessages, chat_completions: undoneChat } as const

function isReply(json: JsonObject, format: ChatFormat): boolean {
  if (readReplyError(json) !== null) return false
  return format === 'messages' ? json.type === 'message' : arrayOrEmpty(json.choices).some(isObject)
}

export function prepareSameFormat(preparation: Preparation<ChatFormat>): PreparedCall | Promise<PreparedCall> {
  const { envelopeSigner, body, entry, clientModel, target, format, betas, outputTokensAfforded } = preparation
  const { countInputTokens, reportedTokensMax } = preparation
  const plan = planReadable({
    format,
    body,
    entry,
    target,
    outputTokensAfforded,
    betas,
    openEnvelope: text => envelopeSigner.open(text),
  })
  const usageFacts: UsageFacts = target.dialect.usage
  const billed = (stream: ReplyStream) => {
    const used = usedByStream(stream, { countInputTokens, reportedTokensMax })
    return { usage: billedUsage(used), estimated: used.estimated }
  }
  const { betas: betasToSend, reply } = plan
  const undoPlan = reply.names === null && reply.tag === null && !reply.unwrapsFence ? null : reply
  const { hidesUsageChunk } = reply
  const prefilled = isPrefilled(plan.body, target)
  const choices = numberOrNull(body.outline.n) ?? 1
  // These closures live as long as the reply, so they must not capture the body or its edits.
  return withBody(bodyFor(body, target, format, plan.edits), written => ({
    body: written,
    betas: betasToSend,
    prefilled,
    readReply(bytes): ReadReply {
      const text = byteText(bytes)
      const json = parseUndecoded(text)
      if (!isObject(json) || !isReply(json, format)) {
        throw new GatewayError('upstream_failed', { cause: 'the reply does not have the expected format' })
      }
      const places = [
        ...(json.model === clientModel ? [] : ['/model']),
        ...(format === 'messages' ? modelPlaces(json.usage).map(place => `/usage${place}`) : []),
      ]
      const edits = places.map((path): BodyEdit => ({ op: 'set', path, value: clientModel }))
      const chatUsage = format === 'messages' ? null : readChatUsage(json, usageFacts)
      // If the provider reports usage elsewhere in the reply, copy it to the field where clients look for it.
      if (chatUsage !== null && !isObject(json.usage)) {
        edits.push({ op: 'set', path: '/usage', value: writeChatUsage(chatUsage) })
      }
      if (undoPlan !== null)
        edits.push(...UNDONE[format](parseExactJson(bytes.toString('utf8')) as JsonObject, undoPlan))
      return {
        body: edits.length === 0 ? bytes : editJson(text, edits),
        usage: format === 'messages' ? messagesReportOf(json) : usageReport(chatUsage, { final: true }),
        countOutputTokens: () => countTokens(outputTextOf(parseJson(bytes.toString('utf8')))),
      }
    },
    openStream() {
      const options = { clientModel, countTokens, undoPlan }
      if (format === 'messages') return new MessagesRelay(options)
      return new ChatRelay({ ...options, choices, usageFacts, wantsUsage: !hidesUsageChunk, billed })
    },
  }))
}
