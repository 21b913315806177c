/**
 * A request that gathers the tiny chunks of its body, and limits how much of a body is discarded that nobody reads. Node
 * delivers each chunk as a buffer of its own, which takes hundreds of bytes of memory even for a chunk of one, for as long as
 * the body is not read.
 */

import { IncomingMessage } from 'node:http'
import { GatheredChunks } from '../lib/gathered-chunks.ts'

/** Shorter chunks are gathered, in bytes. */
const SMALL_BYTES = 1024
/** Most bodies have no more small chunks; theirs are not gathered. */
const FEW_CHUNKS = 16

export class GatheredRequest extends IncomingMessage {
  #smallChunks = 0
  /** The small chunks of one read of the socket. */
  #gathered: GatheredChunks | null = null
  #gatheredBytes = 0

  /** Node calls this with each chunk, for all those of one read in the same turn of the event loop, and with null at the end. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= SMALL_BYTES || ++this.#smallChunks <= FEW_CHUNKS) {
      this.flush()
      return super.push(chunk)
    }
    if (this.#gathered === null) setImmediate(flush, this)
    this.#gathered ??= new GatheredChunks()
    this.#gathered.add(chunk)
    this.#gatheredBytes += chunk.length
    return this.readableLength + this.#gatheredBytes < this.readableHighWaterMark
  }

  /** @internal */
  flush(): void {
    const gathered = this.#gathered
    if (gathered === null) return
    this.#gathered = null
    this.#gatheredBytes = 0
    super.push(gathered.take())
  }
}

/** The class of a server's requests. `discard` is called with each whose reply has been sent before its body was complete. */
export function requestsWith(discard: (request: IncomingMessage) => void): typeof IncomingMessage {
  return class extends GatheredRequest {
    /** Node calls this after a reply if nobody has read the body. Its own discards whatever comes, at any length and speed. */
    _dump(): void {
      if (this.complete) this.resume()
      else discard(this)
    }
  }
}

function flush(request: GatheredRequest): void {
  request.flush()
}
