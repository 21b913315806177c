/**
 * What the dialect asks for where client and upstream speak the same format: edits at single places, so that every other
 * byte of the body stays as the client sent it.
 */

import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { planBetas } from './betas.ts'
import { chatEdits, type SameFormatPlan } from './same-format-chat.ts'
import { messagesEdits } from './same-format-messages.ts'
import type { ChatFormat } from './translator.ts'

export type { SameFormatPlan }

export interface SameFormatCall {
  readonly format: ChatFormat
  readonly body: JsonObject
  readonly entry: Pick<ModelEntry, 'outputTokensMax'>
  readonly target: Pick<UpstreamTarget, 'dialect'>
  /** Cap on the output for a body that has none; null or absent: it stays without one. */
  readonly outputTokensAfforded?: number | null
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas?: readonly string[]
}

/** Throws GatewayError for what the upstream is known to refuse in words that clients do not understand. */
export function planSameFormat({
  format,
  body,
  entry,
  target,
  outputTokensAfforded = null,
  betas = [],
}: SameFormatCall): SameFormatPlan {
  const facts = { dialect: target.dialect, outputTokensMax: entry.outputTokensMax, outputTokensAfforded }
  if (format === 'chat_completions') return chatEdits(body, facts)
  const edits = messagesEdits(body, facts)
  return { hidesUsageChunk: false, ...planBetas(body, { betas, edits, facts: target.dialect.betas }) }
}
