/** Relays a Chat Completions stream to a Chat client. Chunks pass through unchanged except for the model's name. */

import { editData, replaceData } from '../../conversation/event-edit.ts'
import { TemplateLearner } from '../../conversation/event-template.ts'
import { type CountTokens, OutputGatherer } from '../../conversation/output-gatherer.ts'
import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, readEvent } from '../../conversation/stream-event.ts'
import type { UndoPlan } from '../../conversation/undo-text.ts'
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
import { CallEnds, type CallPlace } from './call-ends.ts'
import { CallIndexes } from './call-indexes.ts'
import { withDeltas } from './replay.ts'
import { callTexts, deltaMember, spokenParts } from './reply-parts.ts'
import { ChunkUndo } from './undo.ts'
import { readUsage } from './usage.ts'
import { ChunkWriter } from './write-chunks.ts'

export interface BilledUsage {
  readonly usage: TokenUsage
  /** Whether our own counts replace some of the figures. */
  readonly estimated: boolean
}

export interface ChatRelayOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  /** Number of choices that the call requested. */
  readonly choices: number
  /** Whether the client requested the usage chunk. If not, chunks without choices are read but not passed on. */
  readonly wantsUsage: boolean
  readonly usageFacts: UsageFacts
  /** Returns what is billed for a finished stream. Clients that requested usage see the same figures. */
  readonly billed: (stream: ReplyStream) => BilledUsage
  /** Request rewrites to undo in the reply, such as renamed tools; null or absent if there are none. */
  readonly undoPlan?: UndoPlan | null
}

export class ChatRelay implements ReplyStream {
  readonly #options: ChatRelayOptions
  readonly #output: OutputGatherer
  /** The `model` member as the upstream writes it, and its replacement. */
  #model: { readonly written: ByteText; readonly emitted: ByteText } | null = null
  #terminal = ascii('data: [DONE]\n\n')
  /** Indexes of the choices that have come, and of those that have a finish reason. */
  readonly #choices = new Set<JsonValue>()
  readonly #finishes = new Set<JsonValue>()
  #isOver = false
  #started = false
  /** Whether any output has arrived: text, reasoning, a refusal or a tool call. */
  #delivered = false
  #hasCalls = false
  /** Whether any output came in a `delta`, not in a whole `message`. */
  #hasDeltas = false
  /** The latest usage chunk, held back until the end and then sent unless the bill is based on our own counts. */
  #usageChunk = NO_BYTES
  /** Whether the client got the usage in a chunk with a choice. */
  #usageShown = false
  /** Writes chunks that the upstream omitted. */
  #chunks: ChunkWriter | null = null
  #usage: TokenUsage | null = null
  finished = false
  skimmedTo = 0
  skimmedBytes = 0
  readonly #template = new TemplateLearner()
  readonly #undo: ChunkUndo | null
  readonly #calls = new CallIndexes()
  readonly #ends = new CallEnds()
  /** The call that an event extends if it matches the template; null if it extends none. */
  #extended: CallPlace | null = null

  constructor(options: ChatRelayOptions) {
    this.#options = options
    this.#undo = options.undoPlan ? new ChunkUndo(options.undoPlan) : null
    this.#output = new OutputGatherer({ countTokens: options.countTokens })
  }

  get usage(): UsageReport {
    // With several choices, usage that is reported when the first one finishes is not final.
    const final = this.finished || this.#isOver || this.#finishes.size >= this.#options.choices
    return usageReport(this.#usage, { final })
  }

  get #finishSeen(): boolean {
    return this.#finishes.size > 0
  }

  push(event: SseEvent): ByteText {
    if (!event.hasData) return this.#started ? event.relayed : NO_BYTES
    if (event.data === '[DONE]') {
      this.finished = true
      this.#terminal = event.relayed
      return NO_BYTES
    }
    const read = readEvent(event)
    const chunk = this.#hasDeltas ? read : withDeltas(read)
    const raw = chunk === read ? event.relayed : encodeText(`data: ${JSON.stringify(chunk)}\n\n`)
    const repairs = this.#calls.edits(chunk)
    const isOwn = chunk === read && repairs.length === 0
    const way = this.#inspect(chunk)
    if (way === 'hide') return NO_BYTES
    this.#chunks ??= writerLike(chunk, this.#options.clientModel)
    const renamed = editData(this.#renamed(raw, chunk), repairs)
    if (way === 'keep') {
      this.#usageChunk = renamed
      return NO_BYTES
    }
    this.#started = true
    if (chunk === read) this.#hasDeltas ||= this.#delivered
    const own = isOwn ? raw : null
    if (this.#undo !== null) return this.#undone(this.#undo, { own, renamed, chunk })
    if (own !== null) this.#learn(own, chunk)
    return renamed
  }

  /** `own`: the event as the upstream wrote it; null if it had to be changed. */
  #undone(
    undo: ChunkUndo,
    { own, renamed, chunk }: { own: ByteText | null; renamed: ByteText; chunk: JsonObject },
  ): ByteText {
    const edits = undo.chunk(chunk)
    if (edits === null) return NO_BYTES
    const [choice] = arrayOrEmpty(chunk.choices)
    if (own !== null && edits.length === 0 && isObject(choice) && undo.isPlain(choice)) this.#learn(own, chunk)
    return editData(renamed, edits)
  }

  /** Returns the text that `#undo` still holds back, as chunks. */
  #heldBack(): ByteText {
    const { reasoning, text } = this.#undo?.end() ?? { reasoning: '', text: '' }
    const write = (member: 'content' | 'reasoning_content', held: string) =>
      held === '' ? NO_BYTES : encodeText(this.#chunks?.frame(member).event(held) ?? '')
    return concat(write('reasoning_content', reasoning), write('content', text))
  }

  skim(all: ByteText, at: number, outputBytesMax: number): ByteText {
    this.skimmedTo = at
    const template = this.#template.current
    if (template === null || this.finished) return NO_BYTES
    const texts = template.run(all, at, outputBytesMax)
    if (texts.length === 0) return NO_BYTES
    this.skimmedBytes = template.textBytes
    this.#template.served()
    const text = joinBytes(texts)
    this.#output.addWritten(text)
    if (this.#extended !== null) this.#ends.extend(this.#extended, text)
    this.skimmedTo = template.end
    return template.emit(all, at)
  }

  end(): ByteText {
    // Of choices that the client did not request, it reads none.
    const areFinished = this.#options.choices === 1 || this.#finishes.size === this.#choices.size
    const isComplete = (this.#finishSeen && areFinished) || (this.finished && this.#delivered && !this.#ends.isAnyOpen)
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

  /** Records a chunk's usage, output and finish reasons. Decides whether to pass it on, hide it, or keep it until the end. */
  #inspect(chunk: JsonObject): 'pass' | 'hide' | 'keep' {
    const choices = arrayOrEmpty(chunk.choices)
    for (const choice of choices) if (isObject(choice)) this.#take(choice)
    const usage = this.#usageIn(chunk)
    if (usage !== null) this.#usage = usage
    // If the provider puts usage anywhere but in `usage`, the client gets a usage chunk from the gateway at the end.
    const isShown = usage !== null && isObject(chunk.usage)
    if (choices.length > 0) {
      this.#usageShown ||= isShown
      return 'pass'
    }
    if (!this.#options.wantsUsage) return 'hide'
    if (usage === null) return 'pass'
    return isShown ? 'keep' : 'hide'
  }

  /** Kimi reports usage in the choice that ends. With several choices, it may be that of one or of all, so it is not read. */
  #usageIn(chunk: JsonObject): TokenUsage | null {
    const { usageFacts, choices } = this.#options
    const usage = readUsage(chunk, usageFacts)
    if (usage !== null || choices > 1) return usage
    const choice = objectOrNull(arrayOrEmpty(chunk.choices)[0])
    return choice === null ? null : readUsage(choice, usageFacts)
  }

  #take({ index, delta, finish_reason }: JsonObject): void {
    this.#choices.add(index ?? 0)
    if (finish_reason) this.#finishes.add(index ?? 0)
    if (!isObject(delta)) return
    this.#ends.take(index, delta)
    const { text, reasoning } = spokenParts(delta)
    const refusal = textOrNull(delta.refusal) ?? ''
    for (const output of [reasoning, text, refusal]) this.#output.add(output)
    for (const written of callTexts(delta)) this.#output.add(written)
    this.#hasCalls ||= arrayOrEmpty(delta.tool_calls).length > 0 || isObject(delta.function_call)
    this.#delivered ||= this.#hasCalls || reasoning + text + refusal !== ''
  }

  /** Learns a template for the fast path (EventTemplate) from a chunk whose only content is one delta. */
  #learn(raw: ByteText, { choices, usage, model }: JsonObject): void {
    const choice = arrayOrEmpty(choices).length === 1 ? objectOrNull(arrayOrEmpty(choices)[0]) : null
    const member =
      choice === null || choice.finish_reason || isObject(usage ?? choice.usage) ? null : deltaMember(choice.delta)
    if (member === null) return
    const isNamed = model === undefined || model === this.#options.clientModel
    const rename = isNamed ? null : this.#model
    if (!isNamed && (rename === null || !raw.includes(rename.written))) return
    this.#extended = member === '"arguments":' ? this.#ends.last : null
    this.#template.learn(raw, member, rename)
  }

  /**
   * Replaces the model's name. A text search for the member is safe: it cannot match inside a string, where quotes are escaped. A
   * chunk that spells the member differently is edited as JSON.
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

/** Returns a writer for additional chunks with the same id and creation time as this chunk. */
function writerLike({ id, created }: JsonObject, clientModel: string): ChunkWriter {
  const createdSeconds = numberOrNull(created) ?? Math.floor(Date.now() / 1000)
  return new ChunkWriter({ id: textOrNull(id) ?? `chatcmpl-${createdSeconds}`, model: clientModel, createdSeconds })
}
