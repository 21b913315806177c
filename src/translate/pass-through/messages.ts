/** A Messages stream to a Messages client: events go through as they came, apart from the model's name. */

import { GatewayError } from '../../errors.ts'
import { modelPlaces, StreamUsage } from '../../formats/messages/usage.ts'
import { gatewayErrorOf, readUpstreamErrorValue } from '../../formats/upstream-error.ts'
import type { UsageReport } from '../../formats/usage.ts'
import { isObject, type JsonObject, objectOrNull, parseJson } from '../../lib/json.ts'
import { type BodyEdit, editJson } from '../../lib/json-text.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { ReplyStream } from '../reply-stream.ts'
import { type CountTokens, OUTPUT_MARKERS, OutputCounter } from './output-counter.ts'

/** How an event begins that carries a piece of output. */
const DELTA_HEAD = 'event: content_block_delta\ndata:'
const LINE_FEED = 10

export class MessagesPassThrough implements ReplyStream {
  readonly encoding = 'latin1'
  readonly #clientModel: string
  readonly #counter: OutputCounter
  #terminal = ''
  #started = false
  readonly #usage = new StreamUsage()
  finished = false
  skimmedTo = 0

  constructor({ clientModel, countTokens }: { clientModel: string; countTokens: CountTokens }) {
    this.#clientModel = clientModel
    this.#counter = new OutputCounter({ countTokens, markers: OUTPUT_MARKERS.messages })
  }

  get usage(): UsageReport {
    return this.#usage.report
  }

  push(event: SseEvent): string {
    const raw = event.raw.toString('latin1')
    if (!event.hasData) return this.#started ? raw : ''
    switch (event.name || String(dataOf(event).type)) {
      case 'content_block_delta':
        this.#counter.append(raw)
        return raw
      case 'message_start':
        this.#started = true
        return this.#start(dataOf(event), raw)
      case 'content_block_start':
        this.#usage.block(dataOf(event))
        return raw
      case 'message_delta':
        return this.#delta(dataOf(event), raw)
      case 'message_stop':
        this.#usage.stop()
        this.finished = true
        this.#terminal = raw
        return ''
      case 'error':
        throw errorOf(event)
      case 'ping':
        return this.#started ? raw : ''
      default:
        return raw
    }
  }

  /** Pieces of output: blocks of these two lines and no others. */
  skim(all: string, at: number): string {
    this.skimmedTo = at
    if (this.finished) return ''
    let end = at
    while (all.slice(end, end + DELTA_HEAD.length) === DELTA_HEAD) {
      const lineEnd = all.indexOf('\n', end + DELTA_HEAD.length)
      if (lineEnd < 0 || all.charCodeAt(lineEnd + 1) !== LINE_FEED) break
      end = lineEnd + 2
    }
    if (end === at) return ''
    this.skimmedTo = end
    const events = all.slice(at, end)
    this.#counter.append(events)
    return events
  }

  end(): string {
    if (!this.finished || !this.#started) throw brokenOff()
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  #delta(event: JsonObject, raw: string): string {
    this.#usage.delta(event)
    return this.#renamed(
      raw,
      modelPlaces(event.usage).map(place => `/usage${place}`),
    )
  }

  #start(event: JsonObject, raw: string): string {
    this.#usage.start(event)
    const message = objectOrNull(event.message)
    if (message === null) return raw
    const own = message.model === this.#clientModel ? [] : ['/message/model']
    return this.#renamed(raw, [...own, ...modelPlaces(message.usage).map(place => `/message/usage${place}`)])
  }

  #renamed(raw: string, places: readonly string[]): string {
    return replaceData(raw, places, this.#clientModel)
  }
}

/** The error of a stream that ended without its good end. */
export function brokenOff(): GatewayError {
  return new GatewayError('upstream_failed', { message: 'The model broke off its reply before it was complete.' })
}

/** An event's data as an object. Throws GatewayError `upstream_failed` when it is none. */
export function dataOf(event: SseEvent): JsonObject {
  const data = parseJson(event.data)
  if (!isObject(data)) throw brokenOff()
  return data
}

/** What an error event of the upstream means for the client. */
export function errorOf(event: SseEvent): GatewayError {
  const error = readUpstreamErrorValue(dataOf(event))
  return error === null ? brokenOff() : gatewayErrorOf(error)
}

/** Sets a value at places of the JSON object behind `data:` of an event that has one data line. */
export function replaceData(raw: string, places: readonly string[], value: string): string {
  if (places.length === 0) return raw
  const open = raw.indexOf('{', raw.indexOf('data:'))
  const close = raw.lastIndexOf('}') + 1
  const edits = places.map((path): BodyEdit => ({ op: 'set', path, value }))
  return raw.slice(0, open) + editJson(raw.slice(open, close), edits) + raw.slice(close)
}
