/** Why a reply ended, from one format to the other: one total switch each way. */

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'
export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal'

/** From `stop_reason` of a messages reply. */
export function finishReasonOf(stopReason: string | null): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'tool_use':
      return 'tool_calls'
    case 'refusal':
      return 'content_filter'
    default:
      // end_turn, stop_sequence, pause_turn, compaction, and whatever comes later.
      return 'stop'
  }
}

export interface ReplyFacts {
  readonly hasToolCalls: boolean
  /** The reply carries a `refusal`. */
  readonly refused: boolean
}

/**
 * From `finish_reason` of a chat reply. Many upstreams say `stop` after tool calls, so a reply that holds calls ends for
 * them unless it was cut or refused.
 */
export function stopReasonOf(finishReason: string | null, { hasToolCalls, refused }: ReplyFacts): StopReason {
  switch (finishReason) {
    case 'length':
      return 'max_tokens'
    case 'content_filter':
      return 'refusal'
    case 'tool_calls':
    case 'function_call':
      return hasToolCalls ? 'tool_use' : 'end_turn'
    default:
      // stop, null, eos, and whatever comes later.
      if (refused) return 'refusal'
      return hasToolCalls ? 'tool_use' : 'end_turn'
  }
}
