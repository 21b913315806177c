/** Relays a Chat Completions stream to a Chat client. Chunks pass through unchanged, apart from the model's name. */

import { argumentsFragment } from '../../conversation/arguments.ts'
import { editData, replaceData } from '../../conversation/event-edit.ts'
import { TemplateLearner } from '../../conversation/event-template.ts'
import { type CountTokens, OutputGatherer } from '../../conversation/output-gatherer.ts'
import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, readEvent } from '../../conversation/stream-event.ts'
import type { Undoing } from '../../conversation/undo-text.ts'
import { type TokenUsage, type UsageFacts, type UsageReport, usageReport } from '../../conversation/usage.ts'
import {
  ascii,
  type ByteText,
  characters,
  concat,
  encodeText,
  joinBytes,
  NO_BYTES,
  ofCharacters,
  replaceOnce,
} from '../../lib/byte-text.ts'
import {
  arrayOrEmpty,
  isObject,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { deltaMember, spokenParts } from './reply-parts.ts'
import { ChunkUndo } from './undo.ts'
import { readUsage } from './usage.ts'
import { ChunkWriter } from './write-chunks.ts'

/** What a call is billed for, as usage figures. */
export interface BilledUsage {
  readonly usage: TokenUsage
  /** Our own counts replace some of the figures. */
  readonly estimated: boolean
}

export interface ChatRelayOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  /** Choices requested by the call. */
  readonly choices: number
  /** The client requested the usage chunk. If not, chunks without choices are read but not passed on. */
  readonly wantsUsage: boolean
  readonly usageFacts: UsageFacts
  /** What is billed for a finished stream. Clients that requested usage see the same figures. */
  readonly billed: (stream: ReplyStream) => BilledUsage
  /** What must be undone in the reply; null or absent: nothing. */
  readonly undoing?: Undoing | null
}

export class ChatRelay implements ReplyStream {
  readonly #options: ChatRelayOptions
  readonly #output: OutputGatherer
  /** The `model` member as the upstream writes it, and its replacement. */
  #model: { readonly written: ByteText; readonly emitted: ByteText } | null = null
  #terminal = ascii('data: [DONE]\n\n')
  /** Indexes of choices with a finish reason. */
  readonly #finishes = new Set<JsonValue | undefined>()
  #isOver = false
  #started = false
  /** Output or a call has arrived. */
  #delivered = false
  #hasCalls = false
  /** The latest usage chunk. It is sent at the end, if its figures are the billed ones. */
  #usageChunk = NO_BYTES
  /** The client got the usage in a chunk with a choice. */
  #usageShown = false
  /** Writes chunks that the upstream failed to send. */
  #chunks: ChunkWriter | null = null
  #usage: TokenUsage | null = null
  finished = false
  skimmedTo = 0
  readonly #template = new TemplateLearner()
  readonly #undo: ChunkUndo | null

  constructor(options: ChatRelayOptions) {
    this.#options = options
    this.#undo = options.undoing ? new ChunkUndo(options.undoing) : null
    this.#output = new OutputGatherer({ countTokens: options.countTokens })
  }

  get usage(): UsageReport {
    // With several choices, figures sent when the first one finishes are not final yet.
    const final = this.finished || this.#isOver || this.#finishes.size >= this.#options.choices
    return usageReport(this.#usage, { final })
  }

  get #finishSeen(): boolean {
    return this.#finishes.size > 0
  }

  push(event: SseEvent): ByteText {
    const raw = event.relayed
    if (!event.hasData) return this.#started ? raw : NO_BYTES
    if (event.data === '[DONE]') {
      this.finished = true
      this.#terminal = raw
      return NO_BYTES
    }
    const chunk = readEvent(event)
    const way = this.#inspect(chunk)
    if (way === 'hide') return NO_BYTES
    this.#chunks ??= writerLike(chunk, this.#options.clientModel)
    const renamed = this.#renamed(raw, chunk)
    if (way === 'keep') {
      this.#usageChunk = renamed
      return NO_BYTES
    }
    this.#started = true
    if (this.#undo !== null) return this.#undone(this.#undo, { raw, renamed, chunk })
    this.#learn(raw, chunk)
    return renamed
  }

  #undone(undo: ChunkUndo, { raw, renamed, chunk }: { raw: ByteText; renamed: ByteText; chunk: JsonObject }): ByteText {
    const edits = undo.chunk(chunk)
    if (edits === null) return NO_BYTES
    const [choice] = arrayOrEmpty(chunk.choices)
    if (edits.length === 0 && isObject(choice) && undo.isPlain(choice)) this.#learn(raw, chunk)
    return editData(renamed, edits)
  }

  /** Text that `#undo` still held back, as chunks. */
  #heldBack(): ByteText {
    const { reasoning, text } = this.#undo?.end() ?? { reasoning: '', text: '' }
    const write = (member: 'content' | 'reasoning_content', held: string) =>
      held === '' ? NO_BYTES : encodeText(this.#chunks?.frame(member).event(held) ?? '')
    return concat(write('reasoning_content', reasoning), write('content', text))
  }

  skim(all: ByteText, at: number): ByteText {
    this.skimmedTo = at
    const template = this.#template.current
    if (template === null || this.finished) return NO_BYTES
    const texts = template.run(all, at)
    if (texts.length === 0) return NO_BYTES
    this.#template.served()
    this.#output.addWritten(joinBytes(texts))
    this.skimmedTo = template.end
    return template.emit(all, at)
  }

  end(): ByteText {
    const isComplete = this.#finishSeen || (this.finished && this.#delivered)
    if (!this.#started || !isComplete) throw failedStream('a stream without a finish reason')
    this.#isOver = true
    // Clients treat a choice without a finish reason as truncated.
    const finish = this.#finishSeen ? '' : (this.#chunks?.finish(this.#hasCalls ? 'tool_calls' : 'stop') ?? '')
    const held = this.#finishSeen ? NO_BYTES : this.#heldBack()
    return concat(held, encodeText(finish), this.#lastUsage(), this.#terminal)
  }

  #lastUsage(): ByteText {
    if (!this.#options.wantsUsage) return NO_BYTES
    const { usage, estimated } = this.#options.billed(this)
    if (!estimated && (this.#usageChunk.length > 0 || this.#usageShown)) return this.#usageChunk
    return encodeText(this.#chunks?.usage(usage) ?? '')
  }

  countOutputTokens(): number {
    return this.#output.tokens()
  }

  estimateOutputTokens(): number {
    return this.#output.estimate()
  }

  /** Records what the gateway needs of a chunk, and decides what happens to it. */
  #inspect(chunk: JsonObject): 'pass' | 'hide' | 'keep' {
    const choices = arrayOrEmpty(chunk.choices)
    for (const choice of choices) if (isObject(choice)) this.#take(choice)
    const usage = readUsage(chunk, this.#options.usageFacts)
    if (usage !== null) this.#usage = usage
    // Figures from elsewhere in the chunk are sent at the end, in the usual place.
    const isShown = usage !== null && isObject(chunk.usage)
    if (choices.length > 0) {
      this.#usageShown ||= isShown
      return 'pass'
    }
    if (!this.#options.wantsUsage) return 'hide'
    if (usage === null) return 'pass'
    return isShown ? 'keep' : 'hide'
  }

  #take({ index, delta, finish_reason }: JsonObject): void {
    if (finish_reason) this.#finishes.add(index)
    if (!isObject(delta)) return
    const { text, reasoning } = spokenParts(delta)
    const refusal = textOrNull(delta.refusal) ?? ''
    for (const output of [reasoning, text, refusal]) this.#output.add(output)
    const calls = arrayOrEmpty(delta.tool_calls)
    this.#hasCalls ||= calls.length > 0
    this.#delivered ||= this.#hasCalls || reasoning + text + refusal !== ''
    for (const call of calls) {
      this.#output.add(argumentsFragment(objectOrNull(objectOrNull(call)?.function)?.arguments))
    }
  }

  /** Learns from a chunk with a single piece of output and nothing else of meaning. */
  #learn(raw: ByteText, { choices, usage, model }: JsonObject): void {
    const choice = arrayOrEmpty(choices).length === 1 ? objectOrNull(arrayOrEmpty(choices)[0]) : null
    const member = choice === null || choice.finish_reason || isObject(usage) ? null : deltaMember(choice.delta)
    if (member === null) return
    if (model === undefined || model === this.#options.clientModel) this.#template.learn(raw, member)
    else if (this.#model !== null && raw.includes(this.#model.written)) {
      this.#template.learn(raw, member, this.#model)
    }
  }

  /**
   * Replaces the model's name. The member's text cannot be inside a string, where quotes are escaped, so it is safe to
   * search for it. A chunk that writes the member differently is edited as JSON.
   */
  #renamed(raw: ByteText, { model }: JsonObject): ByteText {
    const { clientModel } = this.#options
    if (typeof model !== 'string' || model === clientModel) return raw
    if (this.#model !== null && raw.includes(this.#model.written)) {
      return replaceOnce(raw, this.#model.written, this.#model.emitted)
    }
    const written = /"model": ?"[^"\\]*"/.exec(characters(raw))?.[0] ?? null
    if (written?.endsWith(`"${model}"`)) {
      this.#model = { written: ofCharacters(written), emitted: concat(ascii('"model":'), asciiJson(clientModel)) }
    }
    return replaceData(raw, ['/model'], clientModel)
  }
}

/** Writes further chunks of the same reply as this one. */
function writerLike({ id, created }: JsonObject, clientModel: string): ChunkWriter {
  const createdSeconds = numberOrNull(created) ?? Math.floor(Date.now() / 1000)
  return new ChunkWriter({ id: textOrNull(id) ?? `chatcmpl-${createdSeconds}`, model: clientModel, createdSeconds })
}
