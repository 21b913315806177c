/**
 * What the dialect asks for where client and upstream speak the same format: edits at single places, so that every other
 * byte of the body stays as the client sent it.
 */

import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import type { BodyEdit } from './body-edit.ts'
import { chatEdits } from './same-format-chat.ts'
import { messagesEdits } from './same-format-messages.ts'
import type { ChatFormat } from './translator.ts'

export interface SameFormatCall {
  readonly format: ChatFormat
  readonly body: JsonObject
  readonly entry: Pick<ModelEntry, 'outputTokensMax'>
  readonly target: Pick<UpstreamTarget, 'dialect'>
}

export interface SameFormatPlan {
  /** In order; no two touch the same place. `model` is not among them. */
  readonly edits: readonly BodyEdit[]
  /** The client did not ask for the usage chunk of a chat stream that is now asked for: it must not see it. */
  readonly hidesUsageChunk: boolean
}

/** Throws GatewayError for what the upstream is known to refuse in words that clients do not understand. */
export function planSameFormat({ format, body, entry, target }: SameFormatCall): SameFormatPlan {
  const facts = { dialect: target.dialect, outputTokensMax: entry.outputTokensMax }
  return format === 'messages' ? { edits: messagesEdits(body, facts), hidesUsageChunk: false } : chatEdits(body, facts)
}
