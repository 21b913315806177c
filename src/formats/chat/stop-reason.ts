/** Maps `finish_reason` of the chat format to and from stop reasons. */

import type { StopReason } from '../../conversation/reply.ts'

const FINISH: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** Returns the `finish_reason` to write. In this format, a refusal that the message explains in `refusal` ends with `stop`. */
export function finishReasonOf(stopReason: StopReason, { hasRefusal, isLegacy }: FinishFacts): string {
  if (isLegacy && stopReason === 'tool_use') return 'function_call'
  return hasRefusal && stopReason === 'refusal' ? 'stop' : FINISH[stopReason]
}

interface FinishFacts {
  /** Whether the message has a `refusal`. */
  readonly hasRefusal: boolean
  /** Whether the client declared its tools as legacy `functions`. */
  readonly isLegacy: boolean
}

export interface ReplyContent {
  readonly hasCalls: boolean
  readonly hasRefusal: boolean
}

/**
 * Maps the `finish_reason` of a chat reply. Many upstreams send `stop` after tool calls, so a reply with calls counts
 * as `tool_use` unless it was truncated or refused.
 */
export function stopReasonOf(finishReason: string | null, { hasCalls, hasRefusal }: ReplyContent): StopReason {
  switch (finishReason) {
    case 'length':
      return 'max_tokens'
    case 'content_filter':
      return 'refusal'
    case 'tool_calls':
    case 'function_call':
      return hasCalls ? 'tool_use' : 'end_turn'
    default:
      // Any other value: stop, null, eos, and future ones.
      if (hasRefusal) return 'refusal'
      return hasCalls ? 'tool_use' : 'end_turn'
  }
}
