/** A reply in no format: what every format's reader tells and every format's writer is told, part after part. */

import type { Seal } from './seal.ts'
import type { UsageReport } from './usage.ts'

/** A part as it begins. One is open at a time. */
export type PartStart =
  | { readonly kind: 'text' }
  /** Says why the model does not answer. */
  | { readonly kind: 'refusal' }
  | { readonly kind: 'reasoning' }
  | {
      readonly kind: 'call'
      /** As the upstream calls it; '' where it has none. */
      readonly id: string
      /** By the name that went upstream. */
      readonly name: string
      /** Signature that must come back with the call; null without one. */
      readonly signature: string | null
    }

export type PartKind = PartStart['kind']

/** Why a reply ended. */
export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal'

/** What a reader tells. */
export interface ReplySink {
  /** The upstream has begun to answer; once, and first. */
  start(): void
  open(part: PartStart): void
  /** More of the open part: text, or the JSON of a call's arguments; never empty. */
  delta(text: string): void
  /** A further piece of the open reasoning: it stands apart from the one before. */
  divide(): void
  /** The open part is complete. `seal`: of reasoning, for its provider. */
  close(seal?: Seal | null): void
}

/** One server-sent event of the upstream. */
export interface UpstreamEvent {
  /** Its `event:` line, or '' without one. */
  readonly name: string
  /** Its data lines joined with "\n"; `[DONE]` included. */
  readonly data: string
  /** Its bytes; a reader that has them may learn to skim. */
  readonly raw?: Buffer
}

/** Reads the events of one upstream's stream, or of a whole reply told as events. */
export interface ReplyReader {
  /** Throws GatewayError for an event that tells of an error. */
  push(event: UpstreamEvent): void
  /** No more will come: gives out what it kept. Throws GatewayError `upstream_failed` for a reply that did not end well. */
  end(): StopReason
  /** The upstream has said that nothing more will come. */
  readonly finished: boolean
  /** What the upstream has said of its tokens so far. */
  readonly usage: UsageReport
}
