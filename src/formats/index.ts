/** The chat formats by name. */

import type { ConversationFormat } from '../conversation/format.ts'
import type { WireName } from '../generated/types.ts'
import { chat } from './chat/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'

export const FORMATS: Readonly<Record<WireName, ConversationFormat>> = {
  messages,
  chat_completions: chat,
  responses,
}
