/** Reads a messages stream, or a non-streamed messages reply that is replayed as a stream. */

import type { ReaderFacts } from '../../conversation/format.ts'
import type { ReplyReader, ReplySink, StopReason, UpstreamEvent } from '../../conversation/reply.ts'
import { type CallSegment, callSegment, Sequencer } from '../../conversation/sequencer.ts'
import { DONE, failedStream, readEvent } from '../../conversation/stream-event.ts'
import type { UsageReport } from '../../conversation/usage.ts'
import { byteText } from '../../lib/byte-text.ts'
import { type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { stopReasonOf } from './stop-reason.ts'
import { StreamUsage } from './usage.ts'

/** A content block that the upstream has not closed yet. */
type OpenBlock =
  | { readonly kind: 'call'; readonly call: CallSegment; readonly input: JsonObject; sawFragment: boolean }
  | { readonly kind: 'reasoning'; signature: string }
  | { readonly kind: 'text' }

export class MessagesReplyReader implements ReplyReader {
  readonly #sink: ReplySink
  readonly #sequencer: Sequencer
  readonly #blocks = new Map<number, OpenBlock>()
  readonly #usage = new StreamUsage()
  #started = false
  #hasStart = false
  #delivered = false
  #stopReason: string | null = null
  finished = false

  constructor(sink: ReplySink, { isReplay }: ReaderFacts) {
    this.#sink = sink
    this.#sequencer = new Sequencer(sink, { isReplay })
  }

  get usage(): UsageReport {
    return this.#usage.report
  }

  get skimmable(): ReplyReader['skimmable'] {
    return this.finished ? null : this.#sequencer.skimmable
  }

  push(given: UpstreamEvent): void {
    if (given.data === '' || given.data === DONE || this.finished) return
    const event = readEvent(given)
    switch (event.type ?? given.name) {
      case 'message_start':
        this.#refuseSecond()
        this.#usage.start(event)
        this.#start()
        return
      case 'content_block_start':
        this.#usage.block(event)
        this.#start()
        this.#openBlock(event)
        return
      case 'content_block_delta':
        this.#delta(event, given.raw)
        return
      case 'content_block_stop':
        this.#closeBlock(blockIndex(event))
        return
      case 'message_delta':
        this.#usage.delta(event)
        this.#stop(objectOrNull(event.delta) ?? {})
        this.#sink.completeOutput()
        return
      case 'message_stop':
        this.#usage.stop()
        this.finished = true
        this.#sink.completeOutput()
        return
      default:
      // `ping` and unknown event types are ignored.
    }
  }

  end(): StopReason {
    const isOver = this.#stopReason !== null || (this.finished && this.#delivered)
    if (!isOver || !this.#started) throw failedStream('a stream without a stop reason')
    for (const index of [...this.#blocks.keys()]) this.#closeBlock(index)
    this.#sequencer.flush({ close: true })
    return stopReasonOf(this.#stopReason)
  }

  /**
   * Refuses a second message. Some relays retry in the middle of a stream; if output was already sent, the new message would be
   * appended to the broken one.
   */
  #refuseSecond(): void {
    if (this.#hasStart && this.#delivered) throw failedStream('a second message in one stream')
    this.#hasStart = true
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    this.#sink.start()
  }

  /** The explanation of a refusal is only among the details of the stop. */
  #stop({ stop_reason, stop_details }: JsonObject): void {
    this.#stopReason = textOrNull(stop_reason) ?? this.#stopReason
    if (stop_reason === 'refusal') {
      this.#sequencer.speak('refusal', textOrNull(objectOrNull(stop_details)?.explanation) ?? '')
    }
  }

  #openBlock(event: JsonObject): void {
    const block = objectOrNull(event.content_block) ?? {}
    const index = blockIndex(event)
    switch (block.type) {
      case 'text':
        this.#blocks.set(index, { kind: 'text' })
        this.#speak('text', textOrNull(block.text) ?? '')
        return
      case 'thinking':
        this.#blocks.set(index, { kind: 'reasoning', signature: textOrNull(block.signature) ?? '' })
        this.#speak('reasoning', textOrNull(block.thinking) ?? '')
        return
      case 'redacted_thinking': {
        const redacted = textOrNull(block.data)
        if (redacted !== null) this.#sequencer.endReasoning({ wire: 'messages', redacted })
        return
      }
      case 'tool_use':
        this.#openCall(index, block)
        return
      default:
      // Blocks of provider-run tools and unknown block types are left out.
    }
  }

  #openCall(index: number, block: JsonObject): void {
    const call = callSegment({ id: textOrNull(block.id) ?? '', name: textOrNull(block.name) ?? '' })
    this.#blocks.set(index, { kind: 'call', call, input: objectOrNull(block.input) ?? {}, sawFragment: false })
    this.#delivered = true
    this.#sequencer.begin(call)
  }

  #delta(event: JsonObject, raw: Buffer | undefined): void {
    const delta = objectOrNull(event.delta)
    if (delta === null) return
    const block = this.#blocks.get(blockIndex(event))
    switch (delta.type) {
      case 'text_delta': {
        const text = textOrNull(delta.text) ?? ''
        this.#learn(raw, 'text', text)
        this.#start()
        this.#speak('text', text)
        return
      }
      case 'thinking_delta': {
        const thinking = textOrNull(delta.thinking) ?? ''
        this.#learn(raw, 'reasoning', thinking)
        this.#start()
        this.#speak('reasoning', thinking)
        return
      }
      case 'signature_delta':
        if (block?.kind === 'reasoning') block.signature += textOrNull(delta.signature) ?? ''
        return
      case 'input_json_delta': {
        const fragment = textOrNull(delta.partial_json) ?? ''
        if (block?.kind !== 'call' || fragment === '') return
        block.sawFragment = true
        this.#learn(raw, block.call, fragment)
        this.#sequencer.extendCall(block.call, fragment)
        return
      }
      default:
      // Citations and unknown delta types are left out.
    }
  }

  #speak(kind: 'text' | 'reasoning', text: string): void {
    if (text !== '') this.#delivered = true
    this.#sequencer.speak(kind, text)
  }

  #learn(raw: Buffer | undefined, extended: 'text' | 'reasoning' | CallSegment, text: string): void {
    if (raw === undefined || text === '') return
    const member = extended === 'text' ? '"text":' : extended === 'reasoning' ? '"thinking":' : '"partial_json":'
    this.#sequencer.learn(byteText(raw), member, extended)
  }

  #closeBlock(index: number): void {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (block?.kind === 'reasoning') {
      const { signature } = block
      this.#sequencer.endReasoning(signature === '' ? null : { wire: 'messages', signature })
    } else if (block?.kind === 'call' && !block.sawFragment) {
      this.#sequencer.extendCall(block.call, JSON.stringify(block.input))
    }
  }
}

function blockIndex(event: JsonObject): number {
  return typeof event.index === 'number' ? event.index : 0
}
