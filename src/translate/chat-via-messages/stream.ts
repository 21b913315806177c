/** A messages stream as a chat stream. */

import { FenceFilter } from '../../conversation/code-fence.ts'
import { TemplateLearner } from '../../conversation/event-template.ts'
import { finishReasonOf } from '../../conversation/stop-reasons.ts'
import { DONE, failedStream, readEvent } from '../../conversation/stream-event.ts'
import type { TokenUsage, UsageReport } from '../../conversation/usage.ts'
import { StreamUsage } from '../../formats/messages/usage.ts'
import { type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { estimatedUsage } from '../estimate.ts'
import type { StreamTranslation, TranslationContext, UpstreamEvent } from '../translator.ts'
import { ChunkWriter } from './chunks.ts'
import { isReplyCall } from './reply.ts'
import type { RequestFacts } from './request.ts'

/** A content block that is open upstream. */
interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'call' | 'reply' | 'hidden'
  /** The client's own dense count of calls; -1 for other blocks. */
  readonly callIndex: number
  /** Input of the call as its start gave it. */
  readonly input: JsonObject
  sawFragment: boolean
}

export interface ChatStreamOptions {
  /** The client asked for a usage chunk. */
  readonly includeUsage: boolean
  /** Gets each part of output. */
  readonly onOutput?: ((text: string) => void) | undefined
}

export class ChatStream implements StreamTranslation {
  readonly #request: RequestFacts
  readonly #context: TranslationContext
  readonly #options: ChatStreamOptions
  readonly #chunks: ChunkWriter
  readonly #fence: FenceFilter | null
  readonly #blocks = new Map<number, OpenBlock>()
  #started = false
  #callCount = 0
  #hasReasoning = false
  /** A further block of reasoning has begun: its text stands apart from the one before. */
  #separatesReasoning = false
  readonly #usage = new StreamUsage()
  #stopReason: string | null = null
  #repliedByTool = false
  readonly #template = new TemplateLearner()
  #templateMember: 'content' | 'reasoning_content' = 'content'
  finished = false
  skimmedTo = 0
  outputCharacters = 0

  constructor(request: RequestFacts, context: TranslationContext, options: ChatStreamOptions) {
    this.#request = request
    this.#context = context
    this.#options = options
    this.#fence = request.unwrapsFence ? new FenceFilter() : null
    this.#chunks = new ChunkWriter({
      id: `chatcmpl-${context.newId()}`,
      model: context.clientModel,
      createdSeconds: context.nowSeconds,
    })
  }

  get usage(): UsageReport {
    return this.#usage.report
  }

  skim(all: string, at: number, onWritten: (text: string) => void): string {
    this.skimmedTo = at
    const template = this.#template.current
    const member = this.#templateMember
    const isHeldUp = member === 'content' ? this.#fence !== null : this.#separatesReasoning
    if (template === null || isHeldUp || this.finished || !this.#started) return ''
    let told = ''
    while (template.match(all, this.skimmedTo) && template.isSound) {
      this.outputCharacters += template.text.length
      onWritten(template.text)
      told += this.#chunks.written(member, template.text)
      this.skimmedTo = template.end
    }
    if (told !== '') this.#template.served()
    return told
  }

  push({ name, data, raw }: UpstreamEvent): string {
    if (data === '' || data === DONE || this.finished) return ''
    const event = readEvent({ name, data })
    switch (event.type ?? name) {
      case 'message_start':
        this.#usage.start(event)
        return this.#start()
      case 'content_block_start':
        this.#usage.block(event)
        return this.#openBlock(event)
      case 'content_block_delta':
        return this.#delta(event, raw)
      case 'content_block_stop':
        return this.#closeBlock(event)
      case 'message_delta':
        this.#usage.delta(event)
        this.#stopReason = textOrNull(objectOrNull(event.delta)?.stop_reason) ?? this.#stopReason
        return this.#flush()
      case 'message_stop':
        this.#usage.stop()
        this.finished = true
        return this.#flush()
      default:
        // ping and whatever comes later.
        return ''
    }
  }

  end(billed?: TokenUsage): string {
    const complete = this.#stopReason !== null || (this.finished && this.outputCharacters > 0)
    if (!complete || !this.#started) throw failedStream('a stream without a stop reason')
    const stopReason = this.#repliedByTool && this.#stopReason === 'tool_use' ? 'end_turn' : this.#stopReason
    const { state, usage } = this.usage
    const reported = state === 'missing' ? estimatedUsage(this.#context, this.outputCharacters) : usage
    const told = billed ?? reported
    return this.#flush() + this.#chunks.end(finishReasonOf(stopReason), this.#options.includeUsage ? told : null)
  }

  #start(): string {
    if (this.#started) return ''
    this.#started = true
    return this.#chunks.role()
  }

  #openBlock(event: JsonObject): string {
    const block = objectOrNull(event.content_block) ?? {}
    const index = blockIndex(event)
    const role = this.#start()
    const text = textOrNull(block.text)
    switch (block.type) {
      case 'text':
        this.#remember(index, 'text')
        return role + (text === null ? '' : this.#text(text))
      case 'thinking': {
        this.#remember(index, 'thinking')
        const thinking = textOrNull(block.thinking)
        this.#separatesReasoning = this.#hasReasoning
        return role + (thinking === null ? '' : this.#reasoning(thinking))
      }
      case 'tool_use':
        if (isReplyCall(block, this.#request) && !this.#repliedByTool) {
          this.#repliedByTool = true
          this.#remember(index, 'reply', objectOrNull(block.input))
          return role
        }
        return role + this.#openCall(index, block)
      default:
        // Redacted thinking, tools that the provider runs itself, unknown blocks.
        this.#remember(index, 'hidden')
        return role
    }
  }

  #openCall(index: number, block: JsonObject): string {
    this.#remember(index, 'call', objectOrNull(block.input))
    const call = {
      index: this.#callCount,
      id: textOrNull(block.id) ?? `call_${this.#context.newId()}`,
      name: this.#request.names.client(textOrNull(block.name) ?? ''),
    }
    this.#callCount += 1
    return this.#chunks.callStart(call)
  }

  #remember(index: number, kind: OpenBlock['kind'], input: JsonObject | null = null): void {
    const callIndex = kind === 'call' ? this.#callCount : -1
    this.#blocks.set(index, { kind, callIndex, input: input ?? {}, sawFragment: false })
  }

  #delta(event: JsonObject, raw: Buffer | undefined): string {
    const delta = objectOrNull(event.delta)
    if (delta === null) return ''
    switch (delta.type) {
      case 'text_delta':
        this.#learn(raw, 'content', delta.text)
        return typeof delta.text === 'string' && delta.text !== '' ? this.#start() + this.#text(delta.text) : ''
      case 'thinking_delta': {
        const thinking = textOrNull(delta.thinking)
        this.#learn(raw, 'reasoning_content', thinking)
        return thinking === null ? '' : this.#start() + this.#reasoning(thinking)
      }
      case 'input_json_delta':
        return this.#fragment(this.#blocks.get(blockIndex(event)), textOrNull(delta.partial_json) ?? '')
      default:
        // Signatures, citations, and whatever comes later.
        return ''
    }
  }

  #learn(raw: Buffer | undefined, member: 'content' | 'reasoning_content', text: JsonObject[string]): void {
    if (raw === undefined || textOrNull(text) === null) return
    this.#templateMember = member
    this.#template.learn(raw.toString('latin1'), member === 'content' ? '"text":' : '"thinking":')
  }

  #fragment(block: OpenBlock | undefined, fragment: string): string {
    if (block === undefined || fragment === '') return ''
    block.sawFragment = true
    if (block.kind !== 'call' && block.kind !== 'reply') return ''
    this.#said(fragment)
    return block.kind === 'call'
      ? this.#chunks.callArguments(block.callIndex, fragment)
      : this.#chunks.content(fragment)
  }

  #closeBlock(event: JsonObject): string {
    const index = blockIndex(event)
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (block === undefined || block.sawFragment) return ''
    return block.kind === 'call' || block.kind === 'reply' ? this.#fragment(block, JSON.stringify(block.input)) : ''
  }

  #text(text: string): string {
    const shown = this.#fence === null ? text : this.#fence.push(text)
    if (shown === '') return ''
    this.#said(shown)
    return this.#chunks.content(shown)
  }

  #reasoning(text: string): string {
    this.#said(text)
    const separator = this.#separatesReasoning ? '\n\n' : ''
    this.#separatesReasoning = false
    this.#hasReasoning = true
    return this.#chunks.reasoning(separator + text)
  }

  #said(output: string): void {
    this.outputCharacters += output.length
    this.#options.onOutput?.(output)
  }

  /** What the fence filter still holds, once no more text can come. */
  #flush(): string {
    const rest = this.#fence?.end() ?? ''
    if (rest === '') return ''
    this.#said(rest)
    return this.#chunks.content(rest)
  }
}

function blockIndex(event: JsonObject): number {
  return typeof event.index === 'number' ? event.index : 0
}
