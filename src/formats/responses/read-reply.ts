/** Reads an upstream's reply in the Responses format: a stream, or a non-streamed response that has been turned into events. */

import { TemplateLearner } from '../../conversation/event-template.ts'
import type { ReaderFacts } from '../../conversation/format.ts'
import type { ReplyReader, ReplySink, Skimmable, StopReason, UpstreamEvent } from '../../conversation/reply.ts'
import { DONE, failedStream, parseEvent, readEvent } from '../../conversation/stream-event.ts'
import { gatewayErrorOf, readFailedError } from '../../conversation/upstream-error.ts'
import type { UsageReport } from '../../conversation/usage.ts'
import { byteText } from '../../lib/byte-text.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { type KnownItem, KnownItems } from './known-items.ts'
import { PartQueue, type QueuedPart } from './part-queue.ts'
import { readerOf, typeOfItem } from './read-items.ts'
import { StreamUsage } from './usage.ts'

export class ResponsesReader implements ReplyReader {
  readonly #sink: ReplySink
  readonly #usage: StreamUsage
  readonly #queue: PartQueue
  readonly #items = new KnownItems()
  #started = false
  #refused = false
  #hasCalls = false
  /** Why the response is incomplete; null if it is complete. */
  #cut: string | null = null
  finished = false
  readonly #learner = new TemplateLearner()
  /** The part whose delta events match the current template of `#learner`; null if there is none. */
  #learned: QueuedPart | null = null

  constructor(sink: ReplySink, { usage }: ReaderFacts) {
    this.#usage = new StreamUsage(usage)
    this.#sink = sink
    this.#queue = new PartQueue({
      start: () => {},
      open: part => {
        if (part.kind === 'refusal') this.#refused = true
        if (part.kind === 'call') this.#hasCalls = true
        sink.open(part)
      },
      delta: text => sink.delta(text),
      startSection: () => sink.startSection(),
      close: seal => sink.close(seal),
      completeOutput: () => {},
    })
  }

  get usage(): UsageReport {
    return this.#usage.report
  }

  get skimmable(): Skimmable | null {
    const part = this.#learned
    if (part === null || this.finished || this.#queue.live !== part || this.#learner.current === null) return null
    const { kind } = part.start
    if (kind === 'refusal') return null
    return { kind, learner: this.#learner, onSkimmed: written => part.addWritten(written) }
  }

  push(event: UpstreamEvent): void {
    if (this.finished || event.data === '' || event.data === DONE) return
    const data = parseEvent(event)
    const type = textOrNull(data.type) ?? event.name
    switch (type) {
      case 'error':
        throw gatewayErrorOf(readFailedError(isObject(data.error) ? data.error : data))
      case 'response.failed':
        this.#told(data, { final: true })
        throw gatewayErrorOf(readFailedError(objectOrNull(data.response)?.error))
      case 'response.completed':
      case 'response.incomplete':
        this.#start()
        this.#told(data, { final: true })
        this.#complete(objectOrNull(data.response) ?? {}, { isCut: type === 'response.incomplete' })
        break
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#start()
        this.#told(data, { final: false })
        break
      case 'response.output_item.added':
        this.#start()
        if (isObject(data.item)) this.#add(data.item, data.output_index)
        break
      case 'response.output_item.done':
        this.#start()
        if (isObject(data.item)) this.#done(this.#add(data.item, data.output_index), data.item)
        break
      default:
        if (type.startsWith('response.')) this.#takeOfItem(type, data, event.raw)
        // A keep-alive, a vendor-specific event, or an error of any shape; `readEvent` throws for an error.
        else readEvent(event)
    }
  }

  end(): StopReason {
    if (!this.finished) throw failedStream('a stream without a finished response')
    if (this.#cut !== null && this.#cut !== 'content_filter') return 'max_tokens'
    if (this.#refused) return 'refusal'
    if (this.#cut !== null) return 'blocked'
    return this.#hasCalls ? 'tool_use' : 'end_turn'
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    this.#sink.start()
  }

  #told(data: JsonObject, { final }: { final: boolean }): void {
    if (isObject(data.response)) this.#usage.response(data.response, { final })
  }

  #takeOfItem(type: string, data: JsonObject, raw: Buffer | undefined): void {
    const item = this.#items.ofEvent(data) ?? this.#addUntold(type, data)
    if (item === null) return
    this.#start()
    const part = item.reader.take(type, data)
    this.#learned = null
    if (raw === undefined || textOrNull(data.delta) === null || part === null || part !== this.#queue.live) return
    this.#learned = part
    this.#learner.learn(byteText(raw), '"delta":')
  }

  /**
   * Adds an item that was not announced by `response.output_item.added`, when the first event about it arrives. Null if that
   * event does not tell the item's type.
   */
  #addUntold(type: string, { output_index, item_id }: JsonObject): KnownItem | null {
    const itemType = typeOfItem(type)
    return itemType === null ? null : this.#add({ type: itemType, id: item_id ?? null }, output_index)
  }

  #add(item: JsonObject, outputIndex?: JsonValue): KnownItem {
    const known = this.#items.ofItem(item, outputIndex)
    if (known !== null) return known
    const added = { type: textOrNull(item.type) ?? '', reader: readerOf(item, this.#queue), isDone: false }
    this.#items.add(added, item, outputIndex)
    return added
  }

  #done(known: KnownItem, item: JsonObject): void {
    this.#items.name(known, item)
    if (known.isDone) return
    known.isDone = true
    this.#usage.item(item)
    known.reader.done(item)
  }

  #complete(response: JsonObject, { isCut }: { isCut: boolean }): void {
    this.finished = true
    const reason = textOrNull(objectOrNull(response.incomplete_details)?.reason)
    if (isCut || response.status === 'incomplete') this.#cut = reason ?? 'max_output_tokens'
    for (const [item, known] of this.#items.pair(arrayOrEmpty(response.output).filter(isObject))) {
      this.#done(known ?? this.#add(item), item)
    }
    for (const known of this.#items.unfinished()) this.#done(known, {})
  }
}
