/** A stream of the responses format: events go through as they came, apart from the model's name inside `response`. */

import { onlyProgramCalls, ProgramCalls } from '../../conversation/program-calls.ts'
import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, parseEvent, readEvent } from '../../conversation/stream-event.ts'
import { NO_USAGE, type TokenUsage, type UsageFacts, type UsageReport, usageReport } from '../../conversation/usage.ts'
import type { GatewayError } from '../../errors.ts'
import { failureCodeOf, readFailure } from '../../formats/responses/failure.ts'
import { readResponseUsage, writeUsage } from '../../formats/responses/usage.ts'
import { arrayOrEmpty, isObject, type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { editData } from './messages.ts'
import { type CountTokens, OUTPUT_MARKERS, OutputCounter } from './output-counter.ts'

/** Text of an event that holds a response, written without blanks or with them. */
const RESPONSE_MARKER = '"response"'

export interface ResponsesPassThroughOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  readonly usageFacts: UsageFacts
}

export class ResponsesPassThrough implements ReplyStream {
  readonly encoding = 'latin1'
  readonly #clientModel: string
  readonly #usageFacts: UsageFacts
  readonly #counter: OutputCounter
  readonly #calls = new ProgramCalls()
  #terminal = ''
  #started = false
  /** What is known of the response, for the event that tells of its failure. */
  #response: { readonly id: string; readonly createdAt: number } | null = null
  #lastSequence = -1
  #failureCode: string | null = null
  usage: UsageReport = NO_USAGE
  finished = false

  constructor({ clientModel, countTokens, usageFacts }: ResponsesPassThroughOptions) {
    this.#clientModel = clientModel
    this.#usageFacts = usageFacts
    this.#counter = new OutputCounter({ countTokens, markers: OUTPUT_MARKERS.responses })
  }

  push(event: SseEvent): string {
    const raw = event.relayed
    if (!event.hasData) return this.#started ? raw : ''
    if (event.data === '[DONE]') return ''
    const sequence = /"sequence_number": ?(\d{1,15})/.exec(raw)?.[1]
    if (sequence !== undefined) this.#lastSequence = Number(sequence)
    const name = event.name || String(parseEvent(event).type)
    if (name.endsWith('.delta')) {
      this.#started = true
      if (!name.includes('audio')) this.#counter.append(raw)
      return raw
    }
    switch (name) {
      case 'error':
        throw this.#failed(parseEvent(event).error ?? parseEvent(event))
      case 'response.failed':
        this.#read(event, raw)
        throw this.#failed(objectOrNull(parseEvent(event).response)?.error)
      case 'response.completed':
      case 'response.incomplete':
        this.finished = true
        this.#terminal = this.#read(event, raw)
        return ''
      case 'response.output_item.done':
        this.#started = true
        this.#calls.add(parseEvent(event).item)
        return raw
      default:
        if (!name.startsWith('response.')) readEvent(event)
        this.#started = true
        return raw.includes(RESPONSE_MARKER) ? this.#read(event, raw) : raw
    }
  }

  end(): string {
    if (!this.finished) throw failedStream('a stream without a finished response')
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  estimateOutputTokens(): number {
    return this.#counter.estimate()
  }

  /** The event that ends a stream whose response failed: the response as far as it is known, or a plain error. */
  failureEvent(error: GatewayError): string {
    const code = this.#failureCode ?? failureCodeOf(error)
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
        model: this.#clientModel,
        output: [],
        usage: null,
      },
    })
  }

  #failed(value: JsonObject[string]): GatewayError {
    const { error, code } = readFailure(value)
    this.#failureCode = code
    return error
  }

  /** Takes from an event what is needed of its response; returns the event with the client's name of the model. */
  #read(event: SseEvent, raw: string): string {
    const response = objectOrNull(parseEvent(event).response)
    if (response === null) return raw
    const id = textOrNull(response.id)
    if (id !== null) this.#response ??= { id, createdAt: numberOrNull(response.created_at) ?? 0 }
    const usage = this.#readUsage(response)
    const isNamed = typeof response.model !== 'string' || response.model === this.#clientModel
    return editData(raw, [
      ...(isNamed ? [] : [{ op: 'set', path: '/response/model', value: this.#clientModel } as const]),
      // Figures that stand elsewhere are told where clients look for them.
      ...(usage === null || isObject(response.usage)
        ? []
        : [{ op: 'set', path: '/response/usage', value: writeUsage(usage) } as const]),
    ])
  }

  /** Some hosts leave the items out of the last event. */
  #readUsage(response: JsonObject): TokenUsage | null {
    const output = arrayOrEmpty(response.output)
    const zeroIsTrue = output.length === 0 ? this.#calls.only : onlyProgramCalls(output)
    const usage = readResponseUsage(response, this.#usageFacts)
    const report = usageReport(usage, { final: this.finished, zeroIsTrue })
    if (report.state !== 'missing') this.usage = report
    return usage
  }
}

function eventText(data: JsonObject): string {
  return `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`
}
