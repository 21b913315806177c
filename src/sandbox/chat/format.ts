/** The Chat Completions format, as the sandbox's simulated providers implement it. */

import type { ReplyContext, WireFormat } from '../format.ts'
import { isObject, textOf } from '../json.ts'
import { checkChatRequest } from './check.ts'
import { chatErrors } from './errors.ts'
import { readChatPrompt } from './read.ts'
import { type ChatReplyOptions, chatErrorEvent, chatReply, chatStream } from './write.ts'

export const chatFormat: WireFormat = {
  ...chatErrors,
  needsVersionHeader: false,
  check: checkChatRequest,
  read: readChatPrompt,
  errorEvent: chatErrorEvent,
  reply: (plan, context) => chatReply(plan, optionsOf(context)),
  stream: (plan, context) => chatStream(plan, optionsOf(context)),
}

function optionsOf({ body, facts, nowSeconds }: ReplyContext): ChatReplyOptions {
  return {
    model: textOf(body.model),
    createdSeconds: nowSeconds,
    choices: typeof body.n === 'number' ? body.n : 1,
    includeUsage:
      facts.usageUnasked === true || (isObject(body.stream_options) && body.stream_options.include_usage === true),
  }
}
