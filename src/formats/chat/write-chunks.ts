/** Writes the chunks of a chat stream as text. Parts that stay the same throughout a stream are serialized once. */

import { DONE } from '../../conversation/stream-event.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { ascii, type ByteText, concat, encodeText, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { writeUsage } from './usage.ts'

export interface ChunkFacts {
  readonly id: string
  readonly model: string
  readonly createdSeconds: number
}

/** The member that carries sealed reasoning in a chat message or delta. */
export function sealedDetail(mark: string): JsonObject {
  return { type: 'reasoning.encrypted', data: mark, index: 0 }
}

/** The text of a chunk after its delta. */
const WRITTEN_TAIL = ascii('"},"logprobs":null,"finish_reason":null}]}\n\n')
const WRITTEN_CALL_TAIL = ascii('"}}]},"logprobs":null,"finish_reason":null}]}\n\n')

export class ChunkWriter {
  readonly #head: string
  readonly #headBytes: ByteText

  constructor({ id, model, createdSeconds }: ChunkFacts) {
    const head = JSON.stringify({ id, object: 'chat.completion.chunk', created: createdSeconds, model })
    this.#head = `data: ${head.slice(0, -1)},"choices":[`
    this.#headBytes = encodeText(this.#head)
  }

  role(): string {
    return this.#delta('{"role":"assistant","content":"","refusal":null}')
  }

  /** Like `content` and `reasoning`, for text as written in JSON. */
  written(member: 'content' | 'reasoning_content', text: ByteText): ByteText {
    return concat(this.#headBytes, ascii(`{"index":0,"delta":{"${member}":"`), text, WRITTEN_TAIL)
  }

  /** Like `callArguments`, for text as written in JSON. */
  writtenArguments(index: number, text: ByteText): ByteText {
    const call = concat(ascii('{"index":0,"delta":{"tool_calls":[{"index":'), ofCharacters(String(index)))
    return concat(this.#headBytes, call, ascii(',"function":{"arguments":"'), text, WRITTEN_CALL_TAIL)
  }

  content(text: string): string {
    return this.#delta(`{"content":${JSON.stringify(text)}}`)
  }

  reasoning(text: string): string {
    return this.#delta(`{"reasoning_content":${JSON.stringify(text)}}`)
  }

  refusal(text: string): string {
    return this.#delta(`{"refusal":${JSON.stringify(text)}}`)
  }

  /** Sealed reasoning, for clients that send it back. */
  sealed(mark: string): string {
    return this.#delta(`{"reasoning_details":[${JSON.stringify(sealedDetail(mark))}]}`)
  }

  callStart(call: { readonly index: number; readonly id: string; readonly name: string }): string {
    const start: JsonValue = {
      index: call.index,
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: '' },
    }
    return this.#delta(`{"tool_calls":[${JSON.stringify(start)}]}`)
  }

  callArguments(index: number, fragment: string): string {
    return this.#delta(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(fragment)}}}]}`)
  }

  finish(reason: string): string {
    return `${this.#head}{"index":0,"delta":{},"logprobs":null,"finish_reason":"${reason}"}]}\n\n`
  }

  usage(usage: TokenUsage): string {
    return `${this.#head}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`
  }

  /** The finish chunk, the usage chunk for clients that requested it, and the end marker. */
  end(reason: string, usage: TokenUsage | null): string {
    return `${this.finish(reason)}${usage === null ? '' : this.usage(usage)}data: ${DONE}\n\n`
  }

  #delta(delta: string): string {
    return `${this.#head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":null}]}\n\n`
  }
}
