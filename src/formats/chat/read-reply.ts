/** Reads a chat stream, or a non-streamed chat reply that is replayed as a stream. */

import { argumentsFragment } from '../../conversation/arguments.ts'
import type { ReaderFacts } from '../../conversation/format.ts'
import type { ReplyReader, ReplySink, StopReason, UpstreamEvent } from '../../conversation/reply.ts'
import { type CallSegment, callSegment, Sequencer } from '../../conversation/sequencer.ts'
import { DONE, failedStream, readEvent } from '../../conversation/stream-event.ts'
import { type TokenUsage, type UsageReport, usageReport } from '../../conversation/usage.ts'
import { byteText } from '../../lib/byte-text.ts'
import { arrayOrEmpty, atPointer, isObject, type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { CallTracker } from './call-tracker.ts'
import { withDeltas } from './replay.ts'
import { deltaMember, spokenParts } from './reply-parts.ts'
import { stopReasonOf } from './stop-reason.ts'
import { readUsage } from './usage.ts'

export class ChatReplyReader implements ReplyReader {
  readonly #facts: ReaderFacts
  readonly #sink: ReplySink
  readonly #tracker = new CallTracker()
  readonly #sequencer: Sequencer
  #started = false
  #delivered = false
  #hasCalls = false
  /** Whether any output came in a `delta`, not in a whole `message`. */
  #hasDeltas = false
  #refused = false
  #finishReason: string | null = null
  #usage: TokenUsage | null = null
  finished = false

  constructor(sink: ReplySink, facts: ReaderFacts) {
    this.#facts = facts
    this.#sink = sink
    this.#sequencer = new Sequencer(sink, { isReplay: facts.isReplay })
  }

  /** Any chunk may carry preliminary figures; those that come with the finish reason or later are final. */
  get usage(): UsageReport {
    return usageReport(this.#usage, { final: this.finished || this.#finishReason !== null })
  }

  get skimmable(): ReplyReader['skimmable'] {
    return this.finished ? null : this.#sequencer.skimmable
  }

  push(event: UpstreamEvent): void {
    if (this.finished || event.data === '') return
    if (event.data === DONE) {
      this.finished = true
      return
    }
    const read = readEvent(event)
    const chunk = this.#hasDeltas ? read : withDeltas(read)
    const choice = choiceOf(chunk)
    this.#usage = this.#readUsage(chunk) ?? (choice && this.#readUsage(choice)) ?? this.#usage
    if (choice === null) return
    const { raw } = event
    if (raw !== undefined && chunk === read && !isObject(chunk.usage) && !isObject(choice.usage))
      this.#learn(raw, chunk, choice)
    if (!this.#started) {
      this.#started = true
      this.#sink.start()
    }
    this.#take(choice)
    if (chunk === read) this.#hasDeltas ||= this.#delivered || this.#hasCalls
  }

  end(): StopReason {
    if (!this.#started) throw failedStream('a stream without choices')
    const isAllThere = (this.#delivered || this.#hasCalls) && !this.#sequencer.hasOpenCall
    const isOver = this.#finishReason !== null || (this.finished && isAllThere)
    if (!isOver) throw failedStream('a stream without a finish reason')
    this.#sequencer.flush({ close: true })
    return stopReasonOf(this.#finishReason, { hasCalls: this.#hasCalls, hasRefusal: this.#refused })
  }

  #learn(raw: Buffer, { choices }: JsonObject, choice: JsonObject): void {
    if (arrayOrEmpty(choices).length !== 1 || choice.finish_reason) return
    const member = deltaMember(choice.delta)
    if (member === null) return
    const extended = member === '"arguments":' ? this.#callOf(choice) : member === '"content":' ? 'text' : 'reasoning'
    if (extended !== null) this.#sequencer.learn(byteText(raw), member, extended)
  }

  /** Returns the call whose arguments the chunk extends; null if it starts a new call. */
  #callOf({ delta }: JsonObject): CallSegment | null {
    const [call] = arrayOrEmpty(objectOrNull(delta)?.tool_calls)
    return isObject(call) ? this.#tracker.find(call) : null
  }

  #readUsage(holder: JsonObject): TokenUsage | null {
    return readUsage(holder, this.#facts.usage)
  }

  #take(choice: JsonObject): void {
    const delta = objectOrNull(choice.delta) ?? {}
    const { text, reasoning } = spokenParts(delta)
    const refusal = textOrNull(delta.refusal) ?? ''
    if (refusal !== '') this.#refused = true
    if (text !== '' || reasoning !== '' || refusal !== '') this.#delivered = true
    this.#sequencer.speak('reasoning', reasoning)
    this.#sequencer.speak('text', text)
    this.#sequencer.speak('refusal', refusal)
    for (const call of arrayOrEmpty(delta.tool_calls)) if (isObject(call)) this.#takeCall(call)
    const legacy = objectOrNull(delta.function_call)
    if (legacy !== null) this.#takeCall({ index: 0, function: legacy })
    const reason = textOrNull(choice.finish_reason)
    if (reason === null) return
    this.#finishReason ??= reason
    this.#sequencer.flush({ close: false })
    this.#sink.completeOutput()
  }

  #takeCall(delta: JsonObject): void {
    const fragment = argumentsFragment(objectOrNull(delta.function)?.arguments)
    if (fragment !== '') this.#delivered = true
    const known = this.#tracker.find(delta)
    if (known !== null) {
      this.#identify(known, delta)
      this.#sequencer.extendCall(known, fragment)
      return
    }
    const call = callSegment({ id: '', name: '' })
    this.#identify(call, delta)
    this.#tracker.add(delta, call)
    this.#sequencer.begin(call)
    this.#sequencer.extendCall(call, fragment)
  }

  /** Id and name may come once or repeatedly; the first non-empty values count. */
  #identify(call: CallSegment, delta: JsonObject): void {
    const id = textOrNull(delta.id)
    if (call.id === '' && id !== null) {
      call.id = id
      this.#tracker.identify(call)
    }
    const { signaturePath } = this.#facts
    if (signaturePath !== null) call.signature ??= textOrNull(atPointer(delta, signaturePath))
    if (call.name !== '') return
    call.name = textOrNull(objectOrNull(delta.function)?.name) ?? ''
    if (call.name !== '') this.#hasCalls = true
  }
}

/** Returns the choice with index 0, the only one relayed. Null for chunks without it (filter results, usage). */
function choiceOf(chunk: JsonObject): JsonObject | null {
  const choices = arrayOrEmpty(chunk.choices)
  return choices.filter(isObject).find(choice => (choice.index ?? 0) === 0) ?? null
}
