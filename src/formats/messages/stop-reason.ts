/** Maps `stop_reason` of the messages format to and from stop reasons. */

import type { StopReason } from '../../conversation/reply.ts'

export function stopReasonOf(stopReason: string | null): StopReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'max_tokens'
    case 'tool_use':
      return stopReason
    case 'refusal':
      return 'blocked'
    default:
      // Any other value: end_turn, stop_sequence, pause_turn, compaction, and future ones.
      return 'end_turn'
  }
}

export function writeStopReason(stopReason: StopReason): string {
  return stopReason === 'blocked' ? 'refusal' : stopReason
}
