/** Maps `stop_reason` of the messages format, which has more values than StopReason. */

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
      // Any other value: end_turn, stop_sequence, pause_turn, compaction, and future ones.
      return 'end_turn'
  }
}
