/** Maps `finish_reason` of the chat format to and from stop reasons. */

import type { StopReason } from '../../conversation/reply.ts'

const FINISH: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  // The message has a `refusal` then.
  refusal: 'stop',
  blocked: 'content_filter',
}

/** Returns the `finish_reason` to write. `isLegacy`: the client declared its tools as legacy `functions`. */
export function finishReasonOf(stopReason: StopReason, { isLegacy }: { readonly isLegacy: boolean }): string {
  return isLegacy && stopReason === 'tool_use' ? 'function_call' : FINISH[stopReason]
}

export interface ReplyContent {
  readonly hasCalls: boolean
  readonly hasRefusal: boolean
}

/**
 * Finish reasons of replies that were cut and that were blocked. Besides the format's own: those of Z.AI and Mistral, according to
 * their documentation, and Gemini's native ones, which its chat layer has passed on (reports of users); all read 2026-11.
 */
const TRUNCATED: ReadonlySet<string> = new Set([
  ...['length', 'max_tokens', 'model_length', 'model_context_window_exceeded'],
  // A tool call that Gemini could not parse and left out. Agents would take an ordinary end for the end of their task. It is no
  // error, which would be free: clients could cause it with their tools, again and again.
  ...['function_call_filter', 'malformed_function_call', 'unexpected_tool_call'],
])
const BLOCKED: ReadonlySet<string> = new Set([
  ...['content_filter', 'sensitive', 'safety', 'recitation', 'blocklist', 'prohibited_content', 'spii'],
])

/**
 * Maps the `finish_reason` of a chat reply. Many upstreams send `stop` after tool calls, so a reply with calls counts
 * as `tool_use` unless it was truncated or refused.
 */
export function stopReasonOf(finishReason: string | null, { hasCalls, hasRefusal }: ReplyContent): StopReason {
  // Gemini may add its own reason: `content_filter: PROHIBITED_CONTENT`, `function_call_filter: MALFORMED_FUNCTION_CALL`.
  const reason = (finishReason ?? '').split(':', 1)[0]!.toLowerCase()
  if (TRUNCATED.has(reason)) return 'max_tokens'
  if (BLOCKED.has(reason)) return hasRefusal ? 'refusal' : 'blocked'
  // Any other value: stop, tool_calls, function_call, eos, none, and future ones.
  const namesCalls = reason === 'tool_calls' || reason === 'function_call'
  if (hasRefusal && !namesCalls) return 'refusal'
  return hasCalls ? 'tool_use' : 'end_turn'
}
