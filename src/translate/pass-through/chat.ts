/** A Chat Completions stream to a Chat client: chunks go through as they came, apart from the model's name. */

import { readUsage } from '../../formats/chat/usage.ts'
import { type TokenUsage, type UsageFacts, type UsageReport, usageReport } from '../../formats/usage.ts'
import { arrayOrEmpty, isObject, type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { argumentsFragment } from '../arguments.ts'
import { TemplateLearner } from '../event-template.ts'
import { deltaMember, spokenParts } from '../messages-via-chat/reply-parts.ts'
import { type CountTokens, OutputGatherer } from '../output-gatherer.ts'
import type { ReplyStream } from '../reply-stream.ts'
import { failedStream, readEvent } from '../stream-event.ts'
import { replaceData } from './messages.ts'

export interface ChatPassThroughOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  /** The client asked for the usage chunk; else it is read here and not passed on. */
  readonly wantsUsage: boolean
  readonly usageFacts: UsageFacts
}

export class ChatPassThrough implements ReplyStream {
  readonly encoding = 'latin1'
  readonly #options: ChatPassThroughOptions
  readonly #output: OutputGatherer
  /** The text of the member that names the model, as the upstream writes it, and what stands there instead. */
  #model: { readonly written: string; readonly told: string } | null = null
  #terminal = 'data: [DONE]\n\n'
  #finishSeen = false
  #started = false
  #usage: TokenUsage | null = null
  finished = false
  skimmedTo = 0
  readonly #template = new TemplateLearner()

  constructor(options: ChatPassThroughOptions) {
    this.#options = options
    this.#output = new OutputGatherer({ countTokens: options.countTokens })
  }

  get usage(): UsageReport {
    return usageReport(this.#usage, { final: this.finished || this.#finishSeen })
  }

  push(event: SseEvent): string {
    const raw = event.relayed
    if (!event.hasData) return this.#started ? raw : ''
    if (event.data === '[DONE]') {
      this.finished = true
      this.#terminal = raw
      return ''
    }
    const chunk = readEvent(event)
    if (!this.#inspect(chunk)) return ''
    this.#started = true
    const renamed = this.#renamed(raw, chunk)
    this.#learn(raw, chunk)
    return renamed
  }

  skim(all: string, at: number): string {
    this.skimmedTo = at
    const template = this.#template.current
    if (template === null || this.finished) return ''
    let told = ''
    while (template.match(all, this.skimmedTo)) {
      told += template.told(all, this.skimmedTo)
      this.#output.addWritten(template.text)
      this.skimmedTo = template.end
    }
    if (told !== '') this.#template.served()
    return told
  }

  end(): string {
    if (!this.#started || !(this.finished || this.#finishSeen)) throw failedStream('a stream without a finish')
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#output.tokens()
  }

  /** Reads what the gateway needs of a chunk; false when the client must not see it. */
  #inspect(chunk: JsonObject): boolean {
    const choices = arrayOrEmpty(chunk.choices)
    for (const choice of choices) if (isObject(choice)) this.#take(choice)
    const usage = readUsage(chunk.usage, this.#options.usageFacts)
    if (usage === null) return true
    this.#usage = usage
    return this.#options.wantsUsage || choices.length > 0
  }

  #take({ delta, finish_reason }: JsonObject): void {
    if (finish_reason) this.#finishSeen = true
    if (!isObject(delta)) return
    const { text, reasoning } = spokenParts(delta)
    this.#output.add(reasoning)
    this.#output.add(text)
    this.#output.add(textOrNull(delta.refusal) ?? '')
    for (const call of arrayOrEmpty(delta.tool_calls)) {
      this.#output.add(argumentsFragment(objectOrNull(objectOrNull(call)?.function)?.arguments))
    }
  }

  /** A chunk with one piece of output and nothing else that means anything. */
  #learn(raw: string, { choices, usage, model }: JsonObject): void {
    const choice = arrayOrEmpty(choices).length === 1 ? objectOrNull(arrayOrEmpty(choices)[0]) : null
    const member = choice === null || choice.finish_reason || isObject(usage) ? null : deltaMember(choice.delta)
    if (member === null) return
    if (model === undefined || model === this.#options.clientModel) this.#template.learn(raw, member)
    else if (this.#model !== null && raw.includes(this.#model.written)) {
      this.#template.learn(raw, member, this.#model)
    }
  }

  /**
   * The chunk with the client's name of the model. Quotes inside strings are escaped, so the member's text cannot stand in
   * one; a chunk that writes it otherwise than the one before is edited with care.
   */
  #renamed(raw: string, { model }: JsonObject): string {
    const { clientModel } = this.#options
    if (typeof model !== 'string' || model === clientModel) return raw
    if (this.#model !== null && raw.includes(this.#model.written)) {
      return raw.replace(this.#model.written, () => this.#model?.told ?? '')
    }
    const written = /"model": ?"[^"\\]*"/.exec(raw)?.[0] ?? null
    if (written?.endsWith(`"${model}"`)) this.#model = { written, told: `"model":${asciiJson(clientModel)}` }
    return replaceData(raw, ['/model'], clientModel)
  }
}
