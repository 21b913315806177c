/** Relays a Messages stream to a Messages client. Events pass through unchanged except for the model's name. */

import { DeltaSkimmer } from '../../conversation/delta-skimmer.ts'
import { editData, replaceData } from '../../conversation/event-edit.ts'
import { type CountTokens, OUTPUT_MARKERS, OutputCounter } from '../../conversation/output-counter.ts'
import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, readEvent } from '../../conversation/stream-event.ts'
import type { UndoPlan } from '../../conversation/undo-text.ts'
import type { UsageReport } from '../../conversation/usage.ts'
import { ascii, type ByteText, concat, NO_BYTES } from '../../lib/byte-text.ts'
import type { BodyEdit } from '../../lib/edit-tree.ts'
import { type JsonObject, objectOrNull } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { EventUndo } from './undo.ts'
import { modelPlaces, StreamUsage } from './usage.ts'

/** How an event that carries output begins. */
const DELTA_HEAD = ascii('event: content_block_delta\ndata:')
const DELTAS = {
  markers: OUTPUT_MARKERS.messages,
  dataAt: (all: ByteText, at: number) => {
    const end = at + DELTA_HEAD.length
    return all.slice(at, end) === DELTA_HEAD ? end : 0
  },
}

export interface MessagesRelayOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  /** Request changes whose effects must be undone in the reply, such as renamed tools; null or absent if there are none. */
  readonly undoPlan?: UndoPlan | null
}

export class MessagesRelay implements ReplyStream {
  readonly #clientModel: string
  readonly #counter: OutputCounter
  #terminal = NO_BYTES
  #started = false
  readonly #usage = new StreamUsage()
  finished = false
  skimmedTo = 0
  skimmedBytes = 0
  readonly #deltas = new DeltaSkimmer(DELTAS)
  readonly #undo: EventUndo | null

  constructor({ clientModel, countTokens, undoPlan = null }: MessagesRelayOptions) {
    this.#clientModel = clientModel
    this.#undo = undoPlan === null ? null : new EventUndo(undoPlan)
    this.#counter = new OutputCounter({ countTokens, markers: OUTPUT_MARKERS.messages })
  }

  get usage(): UsageReport {
    return this.#usage.report
  }

  push(event: SseEvent): ByteText {
    const raw = event.relayed
    if (!event.hasData) return this.#started ? raw : NO_BYTES
    switch (event.name || String(readEvent(event).type)) {
      case 'content_block_delta':
        this.#counter.append(raw)
        return this.#undo === null || this.#undo.isPlain ? raw : edited(raw, this.#undo.delta(readEvent(event)))
      case 'message_start':
        this.#started = true
        return this.#start(readEvent(event), raw)
      case 'content_block_start': {
        const start = readEvent(event)
        this.#usage.block(start)
        return this.#undo === null ? raw : editData(raw, this.#undo.start(start))
      }
      case 'content_block_stop':
        return this.#undo === null ? checked(event, raw) : concat(this.#undo.stop(readEvent(event).index), raw)
      case 'message_delta':
        return this.#delta(readEvent(event), raw)
      case 'message_stop':
        this.#usage.stop()
        this.finished = true
        this.#terminal = raw
        return NO_BYTES
      case 'ping':
        return this.#started ? raw : NO_BYTES
      default:
        readEvent(event)
        return raw
    }
  }

  /** Passes on events that carry output, without parsing them, as long as each has exactly two lines. */
  skim(all: ByteText, at: number, outputBytesMax: number): ByteText {
    this.skimmedTo = at
    if (this.finished || this.#undo?.isPlain === false) return NO_BYTES
    this.#deltas.run(all, at, outputBytesMax)
    const { end } = this.#deltas
    if (end === at) return NO_BYTES
    this.skimmedTo = end
    this.skimmedBytes = this.#deltas.outputBytes
    const events = all.slice(at, end)
    this.#counter.append(events)
    return events
  }

  end(): ByteText {
    if (!this.finished || !this.#started) throw failedStream('a stream without message_stop')
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  estimateOutputTokens(): number {
    return this.#counter.estimate()
  }

  #delta(event: JsonObject, raw: ByteText): ByteText {
    this.#usage.delta(event)
    return this.#renamed(
      raw,
      modelPlaces(event.usage).map(place => `/usage${place}`),
    )
  }

  #start(event: JsonObject, raw: ByteText): ByteText {
    this.#usage.start(event)
    const message = objectOrNull(event.message)
    if (message === null) return raw
    const own = message.model === this.#clientModel ? [] : ['/message/model']
    return this.#renamed(raw, [...own, ...modelPlaces(message.usage).map(place => `/message/usage${place}`)])
  }

  #renamed(raw: ByteText, places: readonly string[]): ByteText {
    return replaceData(raw, places, this.#clientModel)
  }
}

/** Returns the event's own bytes. Throws if the event is invalid or reports an error. */
function checked(event: SseEvent, raw: ByteText): ByteText {
  readEvent(event)
  return raw
}

/** Returns the edited event; empty if all of its text is held back. */
function edited(raw: ByteText, edits: readonly BodyEdit[] | null): ByteText {
  return edits === null ? NO_BYTES : editData(raw, edits)
}
