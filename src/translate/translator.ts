/** What a translator between two formats is: plain data in and out; it does no I/O and knows no model names. */

import type { UpstreamEvent } from '../conversation/reply.ts'
import type { Seal } from '../conversation/seal.ts'
import type { TokenUsage, UsageReport } from '../conversation/usage.ts'
import type { GatewayError } from '../errors.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

export type { JsonObject, JsonValue, TokenUsage, UpstreamEvent }

/** The two formats between which is translated. */
export type ChatFormat = 'messages' | 'chat_completions'

/** What a translator may know of the call. */
export interface TranslationContext {
  readonly entry: ModelEntry
  readonly target: UpstreamTarget
  /** The name that the client sees in `model`. */
  readonly clientModel: string
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas: readonly string[]
  /** Fresh id without prefix, for messages and tool calls that come without one. */
  readonly newId: () => string
  /** When the call began, in seconds since 1970. */
  readonly nowSeconds: number
  /** Seconds since 1970. */
  readonly clock: () => number
  /** Rough input tokens, for how much room the output has. */
  readonly inputTokensEstimate: number
  /** Input tokens as the tokenizer counts them, for stream starts before the upstream has said. Counted once. */
  readonly countInputTokens: () => number
  readonly marks: Marks
}

/** Seals on their way through clients of other formats. */
export interface Marks {
  /** Where the call goes. */
  readonly origin: string
  readonly openMark: (text: string) => JsonValue | null
  readonly markSeal: (seal: Seal, lengths: readonly number[]) => string
  readonly mark: (payload: JsonValue) => string
}

export interface StreamTranslation {
  /**
   * Client text (complete server-sent events) for one upstream event; '' for none. Never the events that end the reply
   * (`message_delta` with the stop reason and `message_stop`; the finish chunk, the usage chunk and `[DONE]`): the call is
   * settled before those go out. Throws GatewayError on an upstream error event.
   */
  push(event: UpstreamEvent): string
  /** As ReplyStream.skim; `onWritten` gets the output as textWritten takes it. */
  skim(all: ByteText, at: number, onWritten: (text: ByteText) => void): ByteText
  readonly skimmedTo: number
  /**
   * The events that end the reply. Throws GatewayError(`upstream_failed`) when the upstream did not end well. The client
   * is told `billed` where given, else the usage that the upstream reported, or a rough guess without one.
   */
  end(billed?: TokenUsage): string
  /** How a fault ends the stream: a complete event. Null: the form that the other formats have in common. */
  fail(error: GatewayError): string | null
  /** True once the upstream has said that nothing more will come (`message_stop`, `[DONE]`). */
  readonly finished: boolean
  /** What the upstream has said of its tokens so far. */
  readonly usage: UsageReport
  /** Characters of output that went to the client (text, reasoning, tool arguments), for an estimate when no usage came. */
  readonly outputCharacters: number
}

export interface CallTranslation {
  /** Body for the upstream, without `rules` applied. */
  readonly upstreamBody: JsonObject
  /** Beta flags to send upstream. */
  readonly upstreamBetas: readonly string[]
  /** Non-streamed reply in the client's format. Throws GatewayError when the upstream's 200 is not a reply. */
  reply(upstreamReply: JsonObject, bill?: BillReply): TranslatedReply
  /** `onOutput` gets every piece of output that goes to the client: text, reasoning, tool arguments. */
  stream(onOutput?: (text: string) => void): StreamTranslation
}

export interface TranslatedReply {
  readonly body: JsonObject
  readonly usage: UsageReport
  /** All output that the client gets: text, reasoning, tool arguments. */
  readonly output: string
}

/** What the client is told of its tokens: what is billed. Absent: what was reported, or a rough guess. */
export type BillReply = (reply: Omit<TranslatedReply, 'body'>) => TokenUsage

/** Throws GatewayError(`invalid_request`) where the request cannot be carried over without changing its meaning. */
export type Translator = (clientBody: JsonObject, context: TranslationContext) => CallTranslation
