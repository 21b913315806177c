/** A reply in format-neutral form: the parts that every format's reader emits and every format's writer accepts. */

import type { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DeltaFrame } from './delta-frame.ts'
import type { Seal } from './envelope.ts'
import type { TemplateLearner } from './event-template.ts'
import type { TokenUsage, UsageReport } from './usage.ts'

/** The beginning of a part. Only one part is open at a time. */
export type PartStart =
  | { readonly kind: 'text' }
  /** A refusal: text that explains why the model does not answer. */
  | { readonly kind: 'refusal' }
  | { readonly kind: 'reasoning' }
  | {
      readonly kind: 'call'
      /** The upstream's id for the call; '' if it gave none. */
      readonly id: string
      /** The tool's name as it was sent upstream. */
      readonly name: string
      /** Signature that the client must send back with the call; null if there is none. */
      readonly signature: string | null
    }

export type PartKind = PartStart['kind']

/** `refusal`: the model declined in a refusal of its own. `blocked`: the provider stopped the reply, which may say why. */
export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal' | 'blocked'

/** Receives the parts that a reader emits. */
export interface ReplySink {
  /** Signals that the upstream has begun its reply. Called once, first. */
  start(): void
  open(part: PartStart): void
  /** Appends text, or a fragment of a call's JSON arguments, to the open part. `text` is never empty. */
  delta(text: string): void
  /** Starts a new section of the open reasoning part, such as the next paragraph of a summary. */
  startSection(): void
  /**
   * Ends the open part. `seal` (reasoning only): the signature or encrypted content that the provider needs back; see
   * `envelope.ts`.
   */
  close(seal?: Seal | null): void
  /** Signals that all output has arrived, even if the events that end the stream are still to come. */
  completeOutput(): void
}

/** A server-sent event from the upstream. */
export interface UpstreamEvent {
  /** Value of the `event:` line; '' if there is none. */
  readonly name: string
  /** The data as text. If `value` is set, this is just a placeholder. */
  readonly data: string
  /** The parsed data. Set only if a non-streamed reply is replayed as events. */
  readonly value?: JsonObject
  /**
   * The event's bytes, from which a reader learns to recognise similar events without parsing them (see `event-template.ts`).
   */
  readonly raw?: Buffer
}

/** Reads the events of an upstream's stream, or of a non-streamed reply that is replayed as events. */
export interface ReplyReader {
  /** Throws GatewayError for an event that reports an error. */
  push(event: UpstreamEvent): void
  /**
   * Call this after the last event. Emits any output still held back. Throws GatewayError `upstream_failed` if the reply is
   * incomplete.
   */
  end(): StopReason
  /** Whether the upstream has announced the end of its stream. */
  readonly finished: boolean
  /** The usage that the upstream has reported so far. */
  readonly usage: UsageReport
  /**
   * Set if the next events may be read without parsing: an event that matches the template (see `event-template.ts`) only
   * appends text to the open part. Null if the next event must be parsed.
   */
  readonly skimmable: Skimmable | null
}

export interface Skimmable {
  readonly kind: 'text' | 'reasoning' | 'call'
  readonly learner: TemplateLearner
  /** Receives the text read without parsing, as escaped JSON string content. Absent if the reader does not need it. */
  readonly onSkimmed?: (written: ByteText) => void
}

/** Writes a client's stream. Events are collected until `take` is called, which happens after each upstream event. */
export interface ReplyWriter extends ReplySink {
  /** Returns the events written since the last call. */
  take(): ByteText
  /**
   * Returns a frame, which wraps text of the open part (escaped JSON string content) in the constant bytes of a delta event
   * (see `delta-frame.ts`). Such events bypass `delta` and `take`, so pass the text to `recordFramed` as well. Null if the
   * open part is of another kind, or if its next text must be written by `delta`.
   */
  frame(kind: PartKind): DeltaFrame | null
  /** Tells the writer about text (escaped JSON string content) that was sent through a frame instead of `delta`. */
  recordFramed(text: ByteText): void
  /** Returns the events that end the stream. */
  end(stopReason: StopReason, usage: TokenUsage): ByteText
  /** Returns the event that ends a failed stream. Absent in formats that use the general error event. */
  failureEvent?(error: GatewayError): string
}

export type FoldedPart =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly texts: readonly string[]; readonly seal: Seal | null }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly name: string
      readonly signature: string | null
      /** JSON text of an object, or whatever the upstream sent instead. */
      readonly arguments: string
    }

/** A non-streamed reply, built from a sequence of parts. */
export interface FoldedReply {
  readonly parts: readonly FoldedPart[]
  readonly stopReason: StopReason
  readonly usage: TokenUsage
}
