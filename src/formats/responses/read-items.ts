/** Reads the items of an upstream's response, event by event. Tolerates omitted, repeated and misplaced events and fields. */

import { argumentsFragment } from '../../conversation/arguments.ts'
import type { Seal } from '../../conversation/envelope.ts'
import { FREEFORM_INPUT } from '../../conversation/freeform.ts'
import { failedStream } from '../../conversation/stream-event.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import type { PartQueue, QueuedPart } from './part-queue.ts'

export interface ItemReader {
  /**
   * Reads an event of the item. Returns the part that the event added text to, if events of the same kind can later be added to
   * that part without parsing (see `Skimmable`); otherwise null.
   */
  take(type: string, event: JsonObject): QueuedPart | null
  /** Reads the finished item. Pass an empty object if the item was never reported as done. */
  done(item: JsonObject): void
}

/**
 * Returns a reader for a new item. `item` is the item as its first event describes it. Items that clients must not see get a
 * reader that ignores them.
 */
export function readerOf(item: JsonObject, queue: PartQueue): ItemReader {
  switch (item.type) {
    case 'message':
      return new MessageReader(queue)
    case 'reasoning':
      return new ReasoningReader(queue)
    case 'function_call':
      return new FunctionCallReader(item, queue)
    case 'custom_tool_call':
      return new CustomCallReader(item, queue)
    default:
      return HIDDEN
  }
}

/** Infers the type of an item that no event has announced, from one of its events; null if the event does not show the type. */
export function typeOfItem(eventType: string): string | null {
  if (eventType.startsWith('response.output_text.') || eventType.startsWith('response.refusal.')) return 'message'
  if (eventType.startsWith('response.reasoning_')) return 'reasoning'
  if (eventType.startsWith('response.function_call_arguments.')) return 'function_call'
  return eventType.startsWith('response.custom_tool_call_input.') ? 'custom_tool_call' : null
}

const HIDDEN: ItemReader = { take: () => null, done: () => {} }

/** Reads a message. Its parts are text or refusals. */
class MessageReader implements ItemReader {
  readonly #queue: PartQueue
  readonly #parts = new Map<number, QueuedPart>()

  constructor(queue: PartQueue) {
    this.#queue = queue
  }

  take(type: string, event: JsonObject): QueuedPart | null {
    const index = indexIn(event.content_index)
    switch (type) {
      case 'response.output_text.delta':
        return this.#part(index, 'text').say(textOf(event.delta))
      case 'response.refusal.delta':
        this.#part(index, 'refusal').say(textOf(event.delta))
        break
      case 'response.output_text.done':
        this.#part(index, 'text').complete(textOf(event.text))
        break
      case 'response.refusal.done':
        this.#part(index, 'refusal').complete(textOf(event.refusal))
        break
      case 'response.content_part.added':
        this.#content(index, event.part)
        break
      case 'response.content_part.done':
        this.#content(index, event.part)?.end()
    }
    return null
  }

  done(item: JsonObject): void {
    for (const [index, part] of arrayOrEmpty(item.content).entries()) this.#content(index, part)?.end()
    for (const part of this.#parts.values()) part.end()
  }

  #content(index: number, content: JsonValue | undefined): QueuedPart | null {
    if (!isObject(content)) return null
    const kind = content.type === 'refusal' ? 'refusal' : content.type === 'output_text' ? 'text' : null
    if (kind === null) return null
    const part = this.#part(index, kind)
    part.complete(textOf(kind === 'refusal' ? content.refusal : content.text))
    return part
  }

  #part(index: number, kind: 'text' | 'refusal'): QueuedPart {
    const known = this.#parts.get(index)
    if (known !== undefined) return known
    const part = this.#queue.add({ kind })
    this.#parts.set(index, part)
    return part
  }
}

/**
 * Reads reasoning: the pieces of a summary or of the raw text (`content`). If an item has both, the first to arrive is used.
 */
class ReasoningReader implements ItemReader {
  readonly #part: QueuedPart
  #source: 'summary' | 'content' | null = null
  #index = 0

  constructor(queue: PartQueue) {
    this.#part = queue.add({ kind: 'reasoning' })
  }

  take(type: string, event: JsonObject): QueuedPart | null {
    switch (type) {
      case 'response.reasoning_summary_text.delta':
        return this.#moveTo('summary', event.summary_index) ? this.#part.say(textOf(event.delta)) : null
      case 'response.reasoning_text.delta':
        return this.#moveTo('content', event.content_index) ? this.#part.say(textOf(event.delta)) : null
      case 'response.reasoning_summary_text.done':
        this.#complete('summary', event.summary_index, event.text)
        break
      case 'response.reasoning_text.done':
        this.#complete('content', event.content_index, event.text)
        break
      case 'response.reasoning_summary_part.done':
        this.#complete('summary', event.summary_index, objectOrNull(event.part)?.text)
        break
      case 'response.content_part.done':
        this.#complete('content', event.content_index, objectOrNull(event.part)?.text)
    }
    return null
  }

  done(item: JsonObject): void {
    for (const source of ['summary', 'content'] as const) {
      for (const [index, piece] of arrayOrEmpty(item[source]).entries()) {
        this.#complete(source, index, objectOrNull(piece)?.text)
      }
    }
    this.#part.end(sealOf(item))
  }

  #complete(source: 'summary' | 'content', index: JsonValue | undefined, text: JsonValue | undefined): void {
    if (textOrNull(text) !== null && this.#moveTo(source, index)) this.#part.complete(textOf(text))
  }

  /**
   * Moves on to the piece with this index, so that its text can be added. Returns false if the text must be ignored, because
   * the piece is an earlier one or comes from the source that is not used.
   */
  #moveTo(source: 'summary' | 'content', index: JsonValue | undefined): boolean {
    this.#source ??= source
    const place = indexIn(index)
    if (source !== this.#source || place < this.#index) return false
    if (place > this.#index) this.#part.divide()
    this.#index = place
    return true
  }
}

/** Returns the encrypted reasoning of a finished item. In an unfinished item, it may be incomplete. */
function sealOf({ id, encrypted_content }: JsonObject): Seal | null {
  const encrypted = textOrNull(encrypted_content)
  return encrypted === null ? null : { wire: 'responses', id: textOrNull(id), encrypted }
}

class FunctionCallReader implements ItemReader {
  readonly #queue: PartQueue
  #part: QueuedPart | null = null
  /** Arguments that arrived before the tool's name. */
  #early = ''
  /** Whether the upstream has reported the arguments as complete. */
  #isComplete = false

  constructor(item: JsonObject, queue: PartQueue) {
    this.#queue = queue
    this.#begin(item)
  }

  take(type: string, event: JsonObject): QueuedPart | null {
    const given = argumentsFragment(type.endsWith('.delta') ? event.delta : event.arguments)
    switch (type) {
      case 'response.function_call_arguments.delta':
        if (this.#isComplete) return null
        if (this.#part === null) this.#early += given
        else return this.#part.say(given)
        break
      case 'response.function_call_arguments.done':
        if (this.#part === null) this.#early = given === '' ? this.#early : given
        else this.#part.complete(given)
        // Some upstreams send this event, with empty arguments, before the real arguments.
        this.#isComplete = given !== ''
    }
    return null
  }

  done(item: JsonObject): void {
    this.#begin(item)
    const given = argumentsFragment(item.arguments)
    if (this.#part === null && this.#early + given !== '') throw failedStream('a tool call without a name')
    this.#part?.complete(given)
    this.#part?.end()
  }

  #begin({ name, call_id, id }: JsonObject): void {
    const known = textOrNull(name)
    if (this.#part !== null || known === null) return
    const start = {
      kind: 'call',
      id: textOrNull(call_id) ?? textOrNull(id) ?? '',
      name: known,
      signature: null,
    } as const
    this.#part = this.#queue.add(start)
    this.#part.say(this.#early)
  }
}

/** Reads a call with free-form input as a function call with a single string argument. */
class CustomCallReader implements ItemReader {
  readonly #call: FunctionCallReader
  #input = ''

  constructor(item: JsonObject, queue: PartQueue) {
    this.#call = new FunctionCallReader(item, queue)
  }

  take(type: string, event: JsonObject): null {
    if (type === 'response.custom_tool_call_input.delta') this.#input += textOf(event.delta)
    if (type === 'response.custom_tool_call_input.done') this.#input = textOrNull(event.input) ?? this.#input
    return null
  }

  done(item: JsonObject): void {
    const input = textOrNull(item.input) ?? this.#input
    this.#call.done({ ...item, arguments: JSON.stringify({ [FREEFORM_INPUT]: input }) })
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function indexIn(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
