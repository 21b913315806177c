/** A chat stream as a messages stream. */

import { argumentsFragment } from '../../conversation/arguments.ts'
import { FenceFilter } from '../../conversation/code-fence.ts'
import { TemplateLearner } from '../../conversation/event-template.ts'
import { TagSplitter } from '../../conversation/reasoning-tag.ts'
import { stopReasonOf } from '../../conversation/stop-reasons.ts'
import { DONE, failedStream, readEvent } from '../../conversation/stream-event.ts'
import { type TokenUsage, type UsageReport, usageReport } from '../../conversation/usage.ts'
import { readUsage } from '../../formats/chat/usage.ts'
import { arrayOrEmpty, isObject, type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { estimatedUsage } from '../estimate.ts'
import type { StreamTranslation, TranslationContext, UpstreamEvent } from '../translator.ts'
import { CallArguments } from './call-arguments.ts'
import { CallIds } from './call-ids.ts'
import { CallTracker } from './call-tracker.ts'
import { messageEnd, messageStart } from './events.ts'
import { deltaMember, spokenParts } from './reply-parts.ts'
import type { RequestFacts } from './request.ts'
import { type CallSegment, SegmentQueue } from './segments.ts'

export class MessagesStream implements StreamTranslation {
  readonly #request: RequestFacts
  readonly #context: TranslationContext
  readonly #ids: CallIds
  readonly #tracker = new CallTracker()
  readonly #segments: SegmentQueue
  readonly #fence: FenceFilter | null
  readonly #tag: TagSplitter | null
  #started = false
  #hasCalls = false
  #hasReply = false
  #refused = false
  #finishReason: string | null = null
  readonly #template = new TemplateLearner()
  #templateKind: 'text' | 'thinking' = 'text'
  #usage: TokenUsage | null = null
  finished = false
  skimmedTo = 0

  constructor(request: RequestFacts, context: TranslationContext, onOutput?: (text: string) => void) {
    this.#request = request
    this.#context = context
    this.#ids = new CallIds(request, context)
    this.#fence = request.unwrapsFence ? new FenceFilter() : null
    const tag = context.target.dialect.reasoning.tag
    this.#tag = tag === null ? null : new TagSplitter(tag)
    this.#segments = new SegmentQueue({
      onOutput,
      describeCall: call => ({
        id: this.#ids.assign(call.id, call.signature),
        name: request.names.client(call.name),
      }),
    })
  }

  get outputCharacters(): number {
    return this.#segments.characters
  }

  /** Running figures may come with every chunk: the one beside the finish or behind it counts. */
  get usage(): UsageReport {
    return usageReport(this.#usage, { final: this.finished || this.#finishReason !== null })
  }

  skim(all: string, at: number, onWritten: (text: string) => void): string {
    this.skimmedTo = at
    const template = this.#template.current
    const kind = this.#templateKind
    const isFiltered = kind === 'text' && (this.#tag !== null || this.#fence !== null)
    if (template === null || isFiltered || this.finished || !this.#segments.isSpeaking(kind)) return ''
    let told = ''
    while (template.match(all, this.skimmedTo) && template.isSound) {
      onWritten(template.text)
      told += this.#segments.speakWritten(kind, template.text)
      this.skimmedTo = template.end
    }
    if (told !== '') this.#template.served()
    return told
  }

  push({ name, data, raw }: UpstreamEvent): string {
    if (this.finished || data === '') return ''
    if (data === DONE) {
      this.finished = true
      return ''
    }
    const chunk = readEvent({ name, data })
    const choice = choiceOf(chunk)
    this.#usage = this.#readUsage(chunk) ?? (choice && this.#readUsage(choice)) ?? this.#usage
    if (choice === null) return ''
    if (raw !== undefined && !isObject(chunk.usage) && !isObject(choice.usage)) this.#learnTemplate(raw, chunk, choice)
    return this.#start() + this.#take(choice)
  }

  #learnTemplate(raw: Buffer, { choices }: JsonObject, choice: JsonObject): void {
    if (arrayOrEmpty(choices).length !== 1 || choice.finish_reason) return
    const member = deltaMember(choice.delta)
    if (member === null || member === '"arguments":') return
    this.#templateKind = member === '"content":' ? 'text' : 'thinking'
    this.#template.learn(raw.toString('latin1'), member)
  }

  end(billed?: TokenUsage): string {
    const delivered = this.outputCharacters > 0 || this.#hasCalls
    if (!this.#started) throw failedStream('a stream without a choice')
    if (this.#finishReason === null && !(this.finished && delivered)) throw failedStream('a stream without a finish')
    const rest = this.#flushText() + this.#segments.flush({ close: true })
    const stopReason = stopReasonOf(this.#finishReason, { hasToolCalls: this.#hasCalls, refused: this.#refused })
    const told = billed ?? this.#usage ?? estimatedUsage(this.#context, this.outputCharacters)
    return rest + messageEnd(stopReason, told)
  }

  #readUsage(holder: JsonObject): TokenUsage | null {
    return readUsage(holder, this.#context.target.dialect.usage)
  }

  /** The model's own count is not known yet, but some clients read it here only. */
  #start(): string {
    if (this.#started) return ''
    this.#started = true
    const usage = this.#usage ?? { ...estimatedUsage(this.#context, 0), outputTokens: 0 }
    return messageStart({ id: `msg_${this.#context.newId()}`, model: this.#context.clientModel, usage })
  }

  #take(choice: JsonObject): string {
    const delta = objectOrNull(choice.delta) ?? {}
    const { text, reasoning } = spokenParts(delta)
    const refusal = textOrNull(delta.refusal)
    if (refusal !== null) this.#refused = true
    let output = this.#segments.speak('thinking', reasoning)
    output += this.#speak(text)
    if (refusal !== null) output += this.#segments.speak('text', refusal)
    for (const call of arrayOrEmpty(delta.tool_calls)) if (isObject(call)) output += this.#takeCall(call)
    const legacy = objectOrNull(delta.function_call)
    if (legacy !== null) output += this.#takeCall({ index: 0, function: legacy })
    return output + this.#finish(textOrNull(choice.finish_reason))
  }

  #speak(text: string): string {
    if (this.#tag === null || text === '') return this.#show(text)
    const split = this.#tag.push(text)
    return this.#segments.speak('thinking', split.reasoning) + this.#show(split.text)
  }

  #show(text: string): string {
    return this.#segments.speak('text', this.#fence === null ? text : this.#fence.push(text))
  }

  #takeCall(delta: JsonObject): string {
    const fragment = argumentsFragment(objectOrNull(delta.function)?.arguments)
    const known = this.#tracker.find(delta)
    if (known !== null) {
      this.#learn(known, delta)
      return this.#segments.extendCall(known, fragment)
    }
    const call: CallSegment = {
      kind: 'call',
      id: '',
      name: '',
      signature: null,
      arguments: new CallArguments(),
      waiting: '',
      isReply: false,
      isClosed: false,
    }
    this.#learn(call, delta)
    this.#tracker.add(delta, call)
    return this.#flushText() + this.#segments.begin(call) + this.#segments.extendCall(call, fragment)
  }

  /** Id and name come once or again and again; the first that is not empty counts. */
  #learn(call: CallSegment, delta: JsonObject): void {
    const id = textOrNull(delta.id)
    if (call.id === '' && id !== null) {
      call.id = id
      this.#tracker.identify(call)
    }
    call.signature ??= this.#ids.signatureOf(delta)
    if (call.name !== '') return
    call.name = textOrNull(objectOrNull(delta.function)?.name) ?? ''
    if (call.name === '') return
    call.isReply = call.name === this.#request.replyTool && !this.#hasReply
    if (call.isReply) this.#hasReply = true
    else this.#hasCalls = true
  }

  #finish(reason: string | null): string {
    if (reason === null) return ''
    this.#finishReason ??= reason
    return this.#flushText() + this.#segments.flush({ close: false })
  }

  /** What the filters still hold, once no more text can come. */
  #flushText(): string {
    const rest = this.#tag?.end()
    const reasoning = this.#segments.speak('thinking', rest?.reasoning ?? '')
    return reasoning + this.#show(rest?.text ?? '') + this.#segments.speak('text', this.#fence?.end() ?? '')
  }
}

/** The choice that is relayed: index 0. Null for chunks without one (filters, usage). */
function choiceOf(chunk: JsonObject): JsonObject | null {
  const choices = arrayOrEmpty(chunk.choices)
  return choices.filter(isObject).find(choice => (choice.index ?? 0) === 0) ?? null
}
