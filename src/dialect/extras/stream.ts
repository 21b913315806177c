/** A reply stream that counts uses of priced extras: tools, such as web search, that are charged for besides tokens. */

import type { ReplyStream } from '../../conversation/reply-stream.ts'
import type { UsageReport } from '../../conversation/usage.ts'
import type { ByteText } from '../../lib/byte-text.ts'
import { parseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { UseCounter } from './uses.ts'

/** Counts the uses of priced extras in every event. It lacks the fast path `skim`, because every event must be parsed. */
export class CountedStream implements ReplyStream {
  readonly #stream: ReplyStream
  readonly #counter: UseCounter

  constructor(stream: ReplyStream, counter: UseCounter) {
    this.#stream = stream
    this.#counter = counter
  }

  get finished(): boolean {
    return this.#stream.finished
  }

  get usage(): UsageReport {
    return this.#stream.usage
  }

  push(event: SseEvent): ByteText {
    if (event.hasData && event.data !== '[DONE]') this.#counter.see(parseJson(event.data))
    return this.#stream.push(event)
  }

  end(): ByteText {
    return this.#stream.end()
  }

  estimateOutputTokens(): number {
    return this.#stream.estimateOutputTokens()
  }

  countOutputTokens(): number {
    return this.#stream.countOutputTokens()
  }
}
