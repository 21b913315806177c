/** For each wire (the API format that an upstream speaks): the function that adapts request bodies to a model's dialect. */

import type { WireName } from '../generated/types.ts'
import { adaptChat } from './chat/adapt.ts'
import { adaptMessages } from './messages/adapt.ts'
import { adaptResponses } from './responses/adapt.ts'
import type { Adapt } from './types.ts'

export const ADAPTERS: Readonly<Record<WireName, Adapt>> = {
  messages: adaptMessages,
  chat_completions: adaptChat,
  responses: adaptResponses,
}
