/** The interface of a translator between two formats: plain data in and out, no I/O, no model names. */

import type { WrapJson } from '../conversation/carried-items.ts'
import type { Seal } from '../conversation/envelope.ts'
import type { UpstreamEvent } from '../conversation/reply.ts'
import type { TokenUsage, UsageReport } from '../conversation/usage.ts'
import type { GatewayError } from '../errors.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

export type { JsonObject, JsonValue, TokenUsage, UpstreamEvent }

/** The two formats whose requests hold a list of messages; requests in the responses format hold items. */
export type ChatFormat = 'messages' | 'chat_completions'

/** The facts about a call that a translator needs. */
export interface TranslationContext {
  readonly entry: ModelEntry
  readonly target: UpstreamTarget
  /** The model's name as the client's reply shows it. */
  readonly clientModel: string
  /** Beta flags that the client sent (messages format only), in order. */
  readonly betas: readonly string[]
  /** Makes a fresh id without a prefix, for messages and tool calls that come without an id. */
  readonly newId: () => string
  /** When the call began, in seconds since 1970. */
  readonly nowSeconds: number
  /** Returns the current time, in seconds since 1970. */
  readonly clock: () => number
  /** Rough estimate of the input tokens, to find out how much of the context is left for output. */
  readonly inputTokensEstimate: number
  /** Counts the input tokens with our tokenizer, for use until the upstream reports usage. Memoized. */
  readonly countInputTokens: () => number
  readonly envelopes: Envelopes
}

/**
 * Makes and opens envelopes: signed tokens in which a provider's encrypted reasoning passes through clients of other formats.
 */
export interface Envelopes {
  /** Identifies the upstream that the call goes to. */
  readonly origin: string
  readonly openEnvelope: (text: string) => JsonValue | null
  readonly wrapSeal: (seal: Seal, lengths: readonly number[]) => string
  readonly wrapJson: WrapJson
}

export interface StreamTranslation {
  /**
   * Returns the client's complete events for one upstream event; empty if there are none. Leaves out the events that end the
   * reply (`message_delta` with the stop reason and `message_stop`; the finish chunk, the usage chunk and `[DONE]`), because
   * the call is settled before they are sent. Throws GatewayError on an upstream error event.
   */
  push(event: UpstreamEvent): ByteText
  /**
   * Converts events that need no parsing, like `skim` of ReplyStream. Afterwards, `skimmedText` is the text in them, as escaped
   * JSON string content (see `textWritten`); its length is at most `textBytesMax`.
   */
  skim(all: ByteText, at: number, textBytesMax: number): ByteText
  readonly skimmedTo: number
  readonly skimmedText: ByteText
  /**
   * Returns the events that end the reply. They report `billed` if given, else the upstream's usage, or a rough estimate if there
   * is none. Throws GatewayError `upstream_failed` if the upstream did not end properly.
   */
  end(billed?: TokenUsage): ByteText
  /** Returns the complete event that ends a failed stream; null if the client's format uses the general error event. */
  failureEvent(error: GatewayError): string | null
  /** Whether the upstream has announced the end of its stream (`message_stop`, `[DONE]`). */
  readonly finished: boolean
  /** The usage that the upstream has reported so far. */
  readonly usage: UsageReport
  /**
   * Characters of output sent to the client (text, reasoning, tool arguments). Used to estimate usage if the upstream reports
   * none.
   */
  readonly outputCharacters: number
}

export interface CallTranslation {
  /** Body for the upstream, before the catalogue's `rules` are applied. */
  readonly upstreamBody: JsonObject
  /** Beta flags to send upstream, as the upstream names them. */
  readonly upstreamBetas: readonly string[]
  /** Converts a non-streamed reply. Throws GatewayError if the upstream's 200 response is an error or not a valid reply. */
  reply(upstreamReply: JsonObject, bill?: BillReply): TranslatedReply
  /**
   * Opens a translation of the streamed reply. `onOutput` receives all output for the client, piece by piece: text, reasoning,
   * tool arguments.
   */
  stream(onOutput?: (text: string) => void): StreamTranslation
}

export interface TranslatedReply {
  readonly body: JsonObject
  readonly usage: UsageReport
  /** All output for the client as a single string: text, reasoning, tool arguments. */
  readonly output: string
}

/**
 * Computes the usage to bill for a reply. The client sees the same usage. Without this function, the client sees the usage that
 * the upstream reported, or a rough estimate.
 */
export type BillReply = (reply: Omit<TranslatedReply, 'body'>) => TokenUsage

/** Translates a request. Throws GatewayError `invalid_request` if that would change its meaning. */
export type Translator = (clientBody: JsonObject, context: TranslationContext) => CallTranslation
