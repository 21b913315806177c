/** The translators, by the pair of formats. */

import type { ApiStandard } from '../generated/types.ts'
import { chatViaMessages } from './chat-via-messages/index.ts'
import { messagesViaChat } from './messages-via-chat/index.ts'
import type { ChatFormat, Translator } from './translator.ts'

/** The translator for a client's format and an upstream's, or null where none is needed or none exists. */
export function translatorFor(clientFormat: ChatFormat, upstreamFormat: ApiStandard): Translator | null {
  if (clientFormat === 'messages' && upstreamFormat === 'chat_completions') return messagesViaChat
  if (clientFormat === 'chat_completions' && upstreamFormat === 'messages') return chatViaMessages
  return null
}
