/** `stop_reason` of the messages format: the words of a reply in no format are its own, and there are more of them. */

import type { StopReason } from '../../conversation/reply.ts'

export function stopReasonOf(stopReason: string | null): StopReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'max_tokens'
    case 'tool_use':
    case 'refusal':
      return stopReason
    default:
      // end_turn, stop_sequence, pause_turn, compaction, and whatever comes later.
      return 'end_turn'
  }
}
