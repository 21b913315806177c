/** The formats of conversations, by name. */

import type { ConversationFormat } from '../conversation/format.ts'
import { chat } from './chat/index.ts'
import { messages } from './messages/index.ts'

export type FormatName = 'messages' | 'chat_completions'

export const FORMATS: Readonly<Record<FormatName, ConversationFormat>> = { messages, chat_completions: chat }
