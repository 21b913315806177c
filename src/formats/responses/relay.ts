/** Relays a stream of the responses format unchanged, except that model and tool names are changed back to the client's. */

import { DeltaSkimmer } from '../../conversation/delta-skimmer.ts'
import { editData } from '../../conversation/event-edit.ts'
import type { ToolNames } from '../../conversation/names.ts'
import { type CountTokens, OUTPUT_MARKERS, OutputCounter } from '../../conversation/output-counter.ts'
import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, parseEvent, readEvent } from '../../conversation/stream-event.ts'
import { gatewayErrorOf, readFailedError } from '../../conversation/upstream-error.ts'
import type { UsageFacts, UsageReport } from '../../conversation/usage.ts'
import type { GatewayError } from '../../errors.ts'
import { type ByteText, characters, NO_BYTES } from '../../lib/byte-text.ts'
import type { BodyEdit } from '../../lib/edit-tree.ts'
import { isObject, type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { namesIn, namesInResponse } from './client-names.ts'
import { failureCodeOf } from './failure.ts'
import { StreamUsage, writeUsage } from './usage.ts'

/** Matches the beginning of a delta event, except for audio, which is not counted as text. */
const DELTA_HEAD = /event: response\.(?![a-z_.]*audio)[a-z_.]+\.delta\ndata:/y
const SEQUENCE = /"sequence_number": ?(\d{1,15})/
const DELTAS = {
  markers: OUTPUT_MARKERS.responses,
  dataAt: (all: ByteText, at: number) => {
    DELTA_HEAD.lastIndex = at
    return DELTA_HEAD.test(characters(all)) ? DELTA_HEAD.lastIndex : 0
  },
}

/** Every event with a response object contains this text, whatever its whitespace. */
const RESPONSE_MARKER = '"response"'

export interface ResponsesRelayOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  readonly usageFacts: UsageFacts
  /** The map of tools that were renamed for the upstream; null if none were. */
  readonly names: ToolNames | null
}

export class ResponsesRelay implements ReplyStream {
  readonly #options: ResponsesRelayOptions
  readonly #counter: OutputCounter
  readonly #usage: StreamUsage
  #terminal = NO_BYTES
  #started = false
  /** Fields to copy into a failure event; null until an event with the response object has arrived. */
  #response: { readonly id: string; readonly createdAt: number } | null = null
  #lastSequence = -1
  finished = false
  skimmedTo = 0
  skimmedBytes = 0
  readonly #deltas = new DeltaSkimmer(DELTAS)

  constructor(options: ResponsesRelayOptions) {
    this.#options = options
    this.#usage = new StreamUsage(options.usageFacts)
    this.#counter = new OutputCounter({ countTokens: options.countTokens, markers: OUTPUT_MARKERS.responses })
  }

  get usage(): UsageReport {
    return this.#usage.report
  }

  push(event: SseEvent): ByteText {
    const raw = event.relayed
    if (!event.hasData) return this.#started ? raw : NO_BYTES
    if (event.data === '[DONE]') return NO_BYTES
    this.#count(raw)
    const name = event.name || String(parseEvent(event).type)
    if (name.endsWith('.delta')) {
      this.#started = true
      if (!name.includes('audio')) this.#counter.append(raw)
      return raw
    }
    switch (name) {
      case 'error':
        throw gatewayErrorOf(readFailedError(parseEvent(event).error ?? parseEvent(event)))
      case 'response.failed':
        this.#read(event, raw)
        throw gatewayErrorOf(readFailedError(objectOrNull(parseEvent(event).response)?.error))
      case 'response.completed':
      case 'response.incomplete':
        this.finished = true
        this.#terminal = this.#read(event, raw)
        return NO_BYTES
      case 'response.output_item.added':
        this.#started = true
        return this.#options.names === null ? raw : this.#renamedItem(raw, parseEvent(event))
      case 'response.output_item.done':
        this.#started = true
        return this.#itemDone(raw, parseEvent(event))
      default:
        if (!name.startsWith('response.')) readEvent(event)
        this.#started = true
        return raw.includes(RESPONSE_MARKER) ? this.#read(event, raw) : raw
    }
  }

  /** Relays output events without parsing them, as long as each of them has exactly two lines. */
  skim(all: ByteText, at: number, outputBytesMax: number): ByteText {
    this.skimmedTo = at
    if (this.finished) return NO_BYTES
    this.#deltas.run(all, at, outputBytesMax)
    const { end, last } = this.#deltas
    if (end === at) return NO_BYTES
    this.skimmedTo = end
    this.skimmedBytes = this.#deltas.outputBytes
    this.#started = true
    const events = all.slice(at, end)
    this.#counter.append(events)
    this.#count(all.slice(last, end))
    return events
  }

  end(): ByteText {
    if (!this.finished) throw failedStream('a stream without a finished response')
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  estimateOutputTokens(): number {
    return this.#counter.estimate()
  }

  /** Returns the event that ends a failed stream: `response.failed` if the response's id is known, otherwise `error`. */
  failureEvent(error: GatewayError): string {
    const code = failureCodeOf(error)
    const sequence_number = this.#lastSequence + 1
    if (this.#response === null) {
      return eventText({ type: 'error', sequence_number, code, message: error.message, param: null })
    }
    const { id, createdAt } = this.#response
    return eventText({
      type: 'response.failed',
      sequence_number,
      response: {
        id,
        object: 'response',
        created_at: createdAt,
        status: 'failed',
        error: { code, message: error.message },
        incomplete_details: null,
        model: this.#options.clientModel,
        output: [],
        usage: null,
      },
    })
  }

  #count(event: ByteText): void {
    const sequence = SEQUENCE.exec(characters(event))?.[1]
    if (sequence !== undefined) this.#lastSequence = Number(sequence)
  }

  #itemDone(raw: ByteText, data: JsonObject): ByteText {
    this.#usage.item(data.item)
    return this.#renamedItem(raw, data)
  }

  #renamedItem(raw: ByteText, { item }: JsonObject): ByteText {
    const { names } = this.#options
    return names === null || !isObject(item) ? raw : editData(raw, namesIn(item, '/item', names))
  }

  /** Reads the response in an event. Returns the event with the client's names for the model and the tools. */
  #read(event: SseEvent, raw: ByteText): ByteText {
    const response = objectOrNull(parseEvent(event).response)
    if (response === null) return raw
    const { clientModel, names } = this.#options
    const id = textOrNull(response.id)
    if (id !== null) this.#response ??= { id, createdAt: numberOrNull(response.created_at) ?? 0 }
    const usage = this.#usage.response(response, { final: this.finished })
    const isNamed = typeof response.model !== 'string' || response.model === clientModel
    const edits: BodyEdit[] = [
      ...(isNamed ? [] : [{ op: 'set', path: '/response/model', value: clientModel } as const]),
      // Clients only look for token counts in `usage`, so counts found elsewhere are copied to it.
      ...(usage === null || isObject(response.usage)
        ? []
        : [{ op: 'set', path: '/response/usage', value: writeUsage(usage) } as const]),
      ...(names === null ? [] : namesInResponse(response, '/response', names)),
    ]
    return editData(raw, edits)
  }
}

function eventText(data: JsonObject): string {
  return `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`
}
