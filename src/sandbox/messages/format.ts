/** The messages format as the server uses it. */

import type { WireFormat } from '../format.ts'
import { isObject, textOf } from '../json.ts'
import { checkMessagesRequest } from './check.ts'
import { messagesErrors } from './errors.ts'
import { readMessagesPrompt } from './read.ts'
import { messagesErrorEvent, messagesReply, messagesStream } from './write.ts'

export const messagesFormat: WireFormat = {
  ...messagesErrors,
  needsVersionHeader: true,
  check: checkMessagesRequest,
  read: readMessagesPrompt,
  errorEvent: messagesErrorEvent,
  reply: (plan, { body }) =>
    messagesReply(plan, { model: textOf(body.model), thinkingShown: thinkingShown(body.thinking) }),
  stream: (plan, { body }) =>
    messagesStream(plan, { model: textOf(body.model), thinkingShown: thinkingShown(body.thinking) }),
}

function thinkingShown(thinking: unknown): boolean {
  return !isObject(thinking) || thinking.display !== 'omitted'
}
