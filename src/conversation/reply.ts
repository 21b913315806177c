/** A reply in no format: what every format's reader tells and every format's writer is told, part after part. */

import type { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject } from '../lib/json.ts'
import type { TemplateLearner } from './event-template.ts'
import type { Seal } from './seal.ts'
import type { TokenUsage, UsageReport } from './usage.ts'

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
  /** All has been said; what ends the reply may follow later. */
  said(): void
}

/** One server-sent event of the upstream. */
export interface UpstreamEvent {
  /** Its `event:` line, or '' without one. */
  readonly name: string
  /** Its data lines joined with "\n"; `[DONE]` included. */
  readonly data: string
  /** Its data, where they are at hand as an object: a whole reply told as events. */
  readonly value?: JsonObject
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
  /** Events that look like those of `learner` are more of the open part, which is of this kind; null: read the next one. */
  readonly skimmable: Skimmable | null
}

export interface Skimmable {
  readonly kind: 'text' | 'reasoning'
  readonly learner: TemplateLearner
  /** Gets each text that was skimmed, as it stands in JSON, where the reader must know. */
  readonly onSkimmed?: (written: ByteText) => void
}

/** Writes a client's stream. What it is told goes into a text that is taken after each event of the upstream. */
export interface ReplyWriter extends ReplySink {
  /** What was written since it was last asked. */
  take(): string
  /** Whether `written` may follow: a part of this kind is open, and nothing of it is kept back. */
  canWriteRaw(kind: PartKind): boolean
  /** As `delta` and `take` in one, for text as it stands in JSON. */
  written(text: ByteText): ByteText
  /** What ends the stream. */
  end(stopReason: StopReason, usage: TokenUsage): string
  /** What ends a stream that went wrong, in formats that have more to say of it than the error. */
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
      /** JSON of an object, or what the upstream gave for it. */
      readonly arguments: string
    }

/** A whole reply: the fold of its events. */
export interface FoldedReply {
  readonly parts: readonly FoldedPart[]
  readonly stopReason: StopReason
  readonly usage: TokenUsage
}
