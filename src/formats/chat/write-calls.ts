/** Writes the tool calls of a chat reply in the form that the client's tools have: function, custom, or legacy function. */

import type { DeltaFrame } from '../../conversation/delta-frame.ts'
import { freeformText } from '../../conversation/freeform.ts'
import type { PartStart } from '../../conversation/reply.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChunkWriter } from './write-chunks.ts'

/** What the writer must know about the client's tools. */
export interface ClientTools {
  /** Names of the tools with free-form input. */
  readonly custom: ReadonlySet<string>
  /** Whether the tools are legacy `functions`, whose clients expect a single `function_call`. */
  readonly legacy: boolean
}

type CallStart = PartStart & { readonly kind: 'call' }

/** A call, with its complete arguments as the model wrote them. */
export interface WholeCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** Returns the members of a message with these calls. */
export function callMembers(calls: readonly WholeCall[], { custom, legacy }: ClientTools): JsonObject {
  const [first] = calls
  if (first === undefined) return {}
  if (legacy) return { function_call: { name: first.name, arguments: first.arguments } }
  return { tool_calls: calls.map(call => (custom.has(call.name) ? customCall(call) : functionCall(call))) }
}

function functionCall({ id, name, arguments: json }: WholeCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: json } }
}

function customCall({ id, name, arguments: json }: WholeCall): JsonObject {
  return { id, type: 'custom', custom: { name, input: freeformText(json) } }
}

/** Writes the chunks of a stream's calls, one call after another. */
export class StreamedCalls {
  readonly #tools: ClientTools
  readonly #chunks: ChunkWriter
  #index = -1
  /** The open call if nothing is sent until its arguments are complete. */
  #waiting: WholeCall | null = null
  /** Turns the next fragment of the open call's arguments into a chunk; null if fragments are not sent as they arrive. */
  frame: DeltaFrame | null = null

  constructor(tools: ClientTools, chunks: ChunkWriter) {
    this.#tools = tools
    this.#chunks = chunks
  }

  /** Begins a call, whose id is not empty. Returns the chunk to send; '' for none. */
  open({ id, name }: CallStart): string {
    const index = ++this.#index
    const { custom, legacy } = this.#tools
    this.#waiting = null
    this.frame = null
    if (legacy) {
      // The message has room for one call. The model repeats the others when it has the first one's result.
      if (index > 0) return ''
      this.frame = this.#chunks.legacyCallFrame()
      return this.#chunks.legacyCallStart(name)
    }
    if (custom.has(name)) {
      // The model writes the text inside a function's arguments.
      this.#waiting = { id, name, arguments: '' }
      return ''
    }
    this.frame = this.#chunks.callFrame(index)
    return this.#chunks.call({ index, ...functionCall({ id, name, arguments: '' }) })
  }

  /** Adds to the open call's arguments. Returns the chunk to send; '' for none. */
  delta(text: string): string {
    const waiting = this.#waiting
    if (waiting === null) return this.frame?.event(text) ?? ''
    this.#waiting = { ...waiting, arguments: waiting.arguments + text }
    return ''
  }

  /** Ends the open call. Returns the chunk to send; '' for none. */
  close(): string {
    const waiting = this.#waiting
    this.#waiting = null
    return waiting === null ? '' : this.#chunks.call({ index: this.#index, ...customCall(waiting) })
  }
}
