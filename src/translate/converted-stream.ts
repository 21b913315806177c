/** Converts replies from the upstream's format to the client's. */

import { ReplyFold } from '../conversation/fold.ts'
import type { ConversationFormat, WriterFacts } from '../conversation/format.ts'
import type { ReplyReader, ReplySink, ReplyWriter, UpstreamEvent } from '../conversation/reply.ts'
import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import type { TokenUsage, UsageReport } from '../conversation/usage.ts'
import type { ReplyFacts } from '../dialect/types.ts'
import { GatewayError } from '../errors.ts'
import { type ByteText, joinBytes, NO_BYTES } from '../lib/byte-text.ts'
import type { JsonObject } from '../lib/json.ts'
import { estimatedUsage } from './estimate.ts'
import { ReplyPipe } from './reply-pipe.ts'
import type { BillReply, StreamTranslation, TranslatedReply, TranslationContext } from './translator.ts'

/**
 * Everything needed to convert the reply of one call. It must not refer to the request body, which would then stay in memory
 * for the whole stream.
 */
export interface ReplyConversion {
  readonly client: ConversationFormat
  readonly upstream: ConversationFormat
  readonly echo: unknown
  readonly facts: ReplyFacts
  readonly context: TranslationContext
}

export class ConvertedStream implements StreamTranslation {
  readonly #context: TranslationContext
  readonly #reader: ReplyReader
  readonly #pipe: ReplyPipe
  readonly #writer: ReplyWriter
  outputCharacters = 0
  skimmedTo = 0
  skimmedText = NO_BYTES

  constructor({ client, upstream, echo, facts, context }: ReplyConversion, onOutput?: (text: string) => void) {
    this.#context = context
    this.#writer = client.openWriter(
      echo,
      writerFacts(context, () => this.#usageSoFar()),
    )
    this.#pipe = new ReplyPipe({
      to: this.#writer,
      facts,
      onOutput: text => {
        this.outputCharacters += text.length
        onOutput?.(text)
      },
    })
    this.#reader = openReader(upstream, this.#pipe, { context, isReplay: false })
  }

  get finished(): boolean {
    return this.#reader.finished
  }

  get usage(): UsageReport {
    return this.#reader.usage
  }

  push(event: UpstreamEvent): ByteText {
    this.#reader.push(event)
    return this.#writer.take()
  }

  skim(all: ByteText, at: number, textBytesMax: number): ByteText {
    this.skimmedTo = at
    this.skimmedText = NO_BYTES
    const { skimmable } = this.#reader
    if (skimmable === null) return NO_BYTES
    const { kind, learner, onSkimmed } = skimmable
    const template = learner.current
    const frame = template === null || !this.#pipe.passes(kind) ? null : this.#writer.frame(kind)
    if (template === null || frame === null) return NO_BYTES
    const texts = template.run(all, at, textBytesMax)
    if (texts.length === 0) return NO_BYTES
    this.skimmedTo = template.end
    learner.served()
    const text = joinBytes(texts)
    this.skimmedText = text
    this.outputCharacters += text.length
    onSkimmed?.(text)
    this.#writer.recordFramed(text)
    return frame.written(texts)
  }

  end(billed?: TokenUsage): ByteText {
    const stopReason = this.#pipe.end(this.#reader.end())
    return this.#writer.end(
      stopReason,
      billed ?? this.#usageSoFar() ?? estimatedUsage(this.#context, this.outputCharacters),
    )
  }

  failureEvent(error: GatewayError): string | null {
    return this.#writer.failureEvent?.(error) ?? null
  }

  #usageSoFar(): TokenUsage | null {
    const { state, usage } = this.#reader.usage
    return state === 'missing' ? null : usage
  }
}

/** Converts a non-streamed reply. Throws GatewayError if the upstream's 200 response contains an error or no reply. */
export function convertReply(reply: JsonObject, conversion: ReplyConversion, bill?: BillReply): TranslatedReply {
  const { client, upstream, echo, facts, context } = conversion
  const error = readReplyError(reply)
  if (error !== null) throw gatewayErrorOf(error)
  if (!upstream.isReply(reply))
    throw new GatewayError('upstream_failed', { cause: 'the reply does not have the expected format' })
  const emitted: string[] = []
  const fold = new ReplyFold()
  const pipe = new ReplyPipe({ to: fold, facts, onOutput: text => emitted.push(text) })
  const reader = openReader(upstream, pipe, { context, isReplay: true })
  for (const event of upstream.replay(reply)) reader.push(event)
  const stopReason = pipe.end(reader.end())
  const { usage } = reader
  const output = emitted.join('')
  const reported = usage.state === 'missing' ? estimatedUsage(context, output.length) : usage.usage
  const billed = bill === undefined ? reported : bill({ usage, output })
  const body = client.writeReply(
    { parts: fold.parts, stopReason, usage: billed },
    echo,
    writerFacts(context, () => billed),
  )
  return { body, usage, output }
}

interface Reading {
  readonly context: TranslationContext
  readonly isReplay: boolean
}

function openReader(upstream: ConversationFormat, sink: ReplySink, { context, isReplay }: Reading): ReplyReader {
  const { usage, tools } = context.target.dialect
  return upstream.openReader(sink, { usage, signaturePath: tools.signature.path, isReplay })
}

function writerFacts(context: TranslationContext, usageSoFar: WriterFacts['usageSoFar']): WriterFacts {
  const { clientModel, newId, nowSeconds, clock, countInputTokens, envelopes } = context
  return {
    clientModel,
    newId,
    nowSeconds,
    clock,
    countInputTokens,
    usageSoFar,
    wrapSeal: envelopes.wrapSeal,
    wrapJson: envelopes.wrapJson,
  }
}
