/** A reply in format-neutral form: the parts that every format's reader emits and every format's writer takes. */

import type { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DeltaFrame } from './delta-frame.ts'
import type { TemplateLearner } from './event-template.ts'
import type { Seal } from './seal.ts'
import type { TokenUsage, UsageReport } from './usage.ts'

/** The start of a part. Only one part is open at a time. */
export type PartStart =
  | { readonly kind: 'text' }
  /** Explains why the model does not answer. */
  | { readonly kind: 'refusal' }
  | { readonly kind: 'reasoning' }
  | {
      readonly kind: 'call'
      /** The upstream's id; '' if it gave none. */
      readonly id: string
      /** The name that was sent upstream. */
      readonly name: string
      /** Signature that must come back with the call; null without one. */
      readonly signature: string | null
    }

export type PartKind = PartStart['kind']

/** Why a reply ended. */
export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal'

/** Receives what a reader emits. */
export interface ReplySink {
  /** The upstream has begun its reply; called once, first. */
  start(): void
  open(part: PartStart): void
  /** More of the open part: text, or the JSON of a call's arguments; never empty. */
  delta(text: string): void
  /** Starts a new piece within the open reasoning. */
  divide(): void
  /** The open part is complete. `seal`: the provider's seal of reasoning. */
  close(seal?: Seal | null): void
  /** All output has arrived; the events that end the reply may come later. */
  said(): void
}

/** One server-sent event of the upstream. */
export interface UpstreamEvent {
  /** Its `event:` line, or '' without one. */
  readonly name: string
  /** The data as text; a placeholder if `value` is set. */
  readonly data: string
  /** The parsed data, if already available: when a whole reply is replayed as events. */
  readonly value?: JsonObject
  /** The event's bytes. With them, a reader can learn to skim. */
  readonly raw?: Buffer
}

/** Reads the events of an upstream's stream, or of a whole reply replayed as events. */
export interface ReplyReader {
  /** Throws GatewayError for an event that reports an error. */
  push(event: UpstreamEvent): void
  /**
   * Call it after the last event: emits what was held back. Throws GatewayError `upstream_failed` if the reply is
   * incomplete.
   */
  end(): StopReason
  /** The upstream has announced the end of its stream. */
  readonly finished: boolean
  /** The upstream's usage report so far. */
  readonly usage: UsageReport
  /**
   * How the next events can be skimmed: those that match the learner's template extend the open part. Null: the next event
   * must be read.
   */
  readonly skimmable: Skimmable | null
}

export interface Skimmable {
  readonly kind: 'text' | 'reasoning' | 'call'
  readonly learner: TemplateLearner
  /** Receives skimmed text, as written in JSON; absent if the reader does not need it. */
  readonly onSkimmed?: (written: ByteText) => void
}

/** Writes a client's stream. The text is collected, and taken after each upstream event. */
export interface ReplyWriter extends ReplySink {
  /** Returns the events written since the last call. */
  take(): ByteText
  /**
   * Frame for text of the open part, as written in JSON, that bypasses `delta` and `take`; pass the text to `framed` as well.
   * Null: the open part is of another kind, or its next text needs more than a single event.
   */
  frame(kind: PartKind): DeltaFrame | null
  /** Records text, as written in JSON, whose events the frame has already written. */
  framed(text: ByteText): void
  /** The events that end the stream. */
  end(stopReason: StopReason, usage: TokenUsage): ByteText
  /** The event that ends a failed stream, in formats that report more than the error. */
  fail?(error: GatewayError): string
}

export type FoldedPart =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly texts: readonly string[]; readonly seal: Seal | null }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly name: string
      readonly signature: string | null
      /** JSON of an object, or whatever the upstream sent instead. */
      readonly arguments: string
    }

/** A whole reply: the fold of its events. */
export interface FoldedReply {
  readonly parts: readonly FoldedPart[]
  readonly stopReason: StopReason
  readonly usage: TokenUsage
}
