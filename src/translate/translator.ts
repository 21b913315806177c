/** The interface of a translator between two formats: plain data in and out, no I/O, no knowledge of model names. */

import type { Mark } from '../conversation/carried-items.ts'
import type { UpstreamEvent } from '../conversation/reply.ts'
import type { Seal } from '../conversation/seal.ts'
import type { TokenUsage, UsageReport } from '../conversation/usage.ts'
import type { GatewayError } from '../errors.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

export type { JsonObject, JsonValue, TokenUsage, UpstreamEvent }

/** The two chat formats that can be translated into each other. */
export type ChatFormat = 'messages' | 'chat_completions'

/** What a translator knows of the call. */
export interface TranslationContext {
  readonly entry: ModelEntry
  readonly target: UpstreamTarget
  /** The name that the client sees in `model`. */
  readonly clientModel: string
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas: readonly string[]
  /** Fresh id without a prefix, for messages and tool calls that come without one. */
  readonly newId: () => string
  /** When the call began, in seconds since 1970. */
  readonly nowSeconds: number
  /** Seconds since 1970. */
  readonly clock: () => number
  /** Rough input tokens, for working out how much room the output has. */
  readonly inputTokensEstimate: number
  /**
   * Input tokens counted by our tokenizer, for the start of a stream, before the upstream reports any. Counted once.
   */
  readonly countInputTokens: () => number
  readonly marks: Marks
}

/** Makes and opens marks: sealed data that travels through clients of other formats. */
export interface Marks {
  /** Identifies where the call goes. */
  readonly origin: string
  readonly openMark: (text: string) => JsonValue | null
  readonly markSeal: (seal: Seal, lengths: readonly number[]) => string
  readonly mark: Mark
}

export interface StreamTranslation {
  /**
   * Complete server-sent events for one upstream event; empty for none. Never includes the events that end
   * the reply (`message_delta` with the stop reason and `message_stop`; the finish chunk, the usage chunk and
   * `[DONE]`), because the call is settled before those go out. Throws GatewayError on an upstream error event.
   */
  push(event: UpstreamEvent): ByteText
  /** Like ReplyStream.skim; `onWritten` receives the output in the form that `textWritten` takes. */
  skim(all: ByteText, at: number, onWritten: (text: ByteText) => void): ByteText
  readonly skimmedTo: number
  /**
   * The events that end the reply. They report `billed` if given, else the upstream's usage, or a rough estimate if there
   * is none. Throws GatewayError(`upstream_failed`) when the upstream did not end properly.
   */
  end(billed?: TokenUsage): ByteText
  /** The complete event that ends a failed stream. Null: use the error event that both chat formats know. */
  fail(error: GatewayError): string | null
  /** The upstream has announced the end of its stream (`message_stop`, `[DONE]`). */
  readonly finished: boolean
  /** The upstream's usage report so far. */
  readonly usage: UsageReport
  /** Characters of output sent to the client (text, reasoning, tool arguments), for an estimate when no usage came. */
  readonly outputCharacters: number
}

export interface CallTranslation {
  /** Body for the upstream, without `rules` applied. */
  readonly upstreamBody: JsonObject
  /** Beta flags to send upstream. */
  readonly upstreamBetas: readonly string[]
  /** Converts a whole reply. Throws GatewayError when the upstream's 200 is not a reply. */
  reply(upstreamReply: JsonObject, bill?: BillReply): TranslatedReply
  /** `onOutput` receives each piece of output that goes to the client: text, reasoning, tool arguments. */
  stream(onOutput?: (text: string) => void): StreamTranslation
}

export interface TranslatedReply {
  readonly body: JsonObject
  readonly usage: UsageReport
  /** All output that the client gets: text, reasoning, tool arguments. */
  readonly output: string
}

/**
 * Computes the usage that the client sees, which is what is billed. Absent: the reported usage, or a rough estimate.
 */
export type BillReply = (reply: Omit<TranslatedReply, 'body'>) => TokenUsage

/** Throws GatewayError(`invalid_request`) when the request cannot be converted without changing its meaning. */
export type Translator = (clientBody: JsonObject, context: TranslationContext) => CallTranslation
