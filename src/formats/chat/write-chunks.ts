/** Writes the chunks of a chat stream as text. The parts that all chunks of a stream share are serialized once. */

import { DeltaFrame } from '../../conversation/delta-frame.ts'
import { DONE } from '../../conversation/stream-event.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { ascii, type ByteText, characters, concat, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'
import { writeUsage } from './usage.ts'

export interface ChunkFacts {
  readonly id: string
  readonly model: string
  readonly createdSeconds: number
}

/**
 * Returns the `reasoning_details` item for an envelope (see `conversation/envelope.ts`), which clients send back. `index`: its
 * place among the reply's details, because clients merge those with the same index.
 */
export function sealedDetail(envelope: string, index: number): JsonObject {
  return { type: 'reasoning.encrypted', data: envelope, index }
}

/** The JSON around the delta in a chunk. */
const DELTA = {
  head: ascii('{"index":0,"delta":'),
  tail: ascii(',"logprobs":null,"finish_reason":null}]}\n\n'),
} as const

export class ChunkWriter {
  readonly #head: ByteText

  constructor({ id, model, createdSeconds }: ChunkFacts) {
    const head = asciiJson({ id, object: 'chat.completion.chunk', created: createdSeconds, model })
    this.#head = concat(ascii('data: '), head.slice(0, -1), ascii(',"choices":['))
  }

  /** Returns a template for chunks whose delta carries text in `member`. */
  frame(member: 'content' | 'reasoning_content' | 'refusal'): DeltaFrame {
    return this.#frameOf(ofCharacters(`{"${member}":"`), ascii('"}'))
  }

  /** Returns a template for chunks whose delta carries a tool call's arguments. */
  callFrame(index: number): DeltaFrame {
    return this.#frameOf(ofCharacters(`{"tool_calls":[{"index":${index},"function":{"arguments":"`), ascii('"}}]}'))
  }

  role(): string {
    return this.#delta('{"role":"assistant","content":"","refusal":null}')
  }

  /** Returns a chunk with an envelope, for clients to send back. */
  sealed(envelope: string, index: number): string {
    return this.#delta(`{"reasoning_details":[${JSON.stringify(sealedDetail(envelope, index))}]}`)
  }

  /** Returns a template for chunks whose delta carries the arguments of a legacy function call. */
  legacyCallFrame(): DeltaFrame {
    return this.#frameOf(ascii('{"function_call":{"arguments":"'), ascii('"}}'))
  }

  /** Returns a chunk with a tool call or the beginning of one; `call` includes its index. */
  call(call: JsonObject): string {
    return this.#delta(`{"tool_calls":[${JSON.stringify(call)}]}`)
  }

  legacyCallStart(name: string): string {
    return this.#delta(`{"function_call":${JSON.stringify({ name, arguments: '' })}}`)
  }

  finish(reason: string): string {
    return `${characters(this.#head)}{"index":0,"delta":{},"logprobs":null,"finish_reason":"${reason}"}]}\n\n`
  }

  usage(usage: TokenUsage): string {
    return `${characters(this.#head)}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`
  }

  /** Returns the finish chunk, the usage chunk if `usage` is given, and the end marker. */
  end(reason: string, usage: TokenUsage | null): string {
    return `${this.finish(reason)}${usage === null ? '' : this.usage(usage)}data: ${DONE}\n\n`
  }

  #frameOf(before: ByteText, after: ByteText): DeltaFrame {
    return new DeltaFrame({ head: concat(this.#head, DELTA.head, before), tail: concat(after, DELTA.tail) })
  }

  #delta(delta: string): string {
    return `${characters(this.#head)}${characters(DELTA.head)}${delta}${characters(DELTA.tail)}`
  }
}
