/**
 * Connects the sandbox's server with the messages format: checks requests, reads prompts, writes replies, streams and errors.
 */

import type { ReplyContext, WireFormat } from '../format.ts'
import { isObject, textOf } from '../json.ts'
import { checkMessagesRequest } from './check.ts'
import { messagesErrors } from './errors.ts'
import { readMessagesPrompt } from './read.ts'
import { type MessagesReplyOptions, messagesErrorEvent, messagesReply, messagesStream } from './write.ts'

export const messagesFormat: WireFormat = {
  ...messagesErrors,
  needsVersionHeader: true,
  check: checkMessagesRequest,
  read: readMessagesPrompt,
  errorEvent: messagesErrorEvent,
  reply: (plan, context) => messagesReply(plan, optionsOf(context)),
  stream: (plan, context) => messagesStream(plan, optionsOf(context)),
}

/** Options for writing a reply. If the request does not say whether to show thinking, the model's default applies. */
export function optionsOf({ body, facts }: ReplyContext): MessagesReplyOptions {
  const display = isObject(body.thinking) ? body.thinking.display : undefined
  const isHidden = display === undefined || display === null ? facts.hidesReasoning === true : display === 'omitted'
  return { model: textOf(body.model), thinkingShown: !isHidden }
}
