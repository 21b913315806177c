/**
 * Gathers a body of unknown length. Small chunks are copied together: as objects of their own, chunks of one byte would take
 * hundreds of times their size in memory.
 */

/** Shorter chunks are copied, in bytes. */
const SMALL_BYTES = 8 * 1024
const COPIED_BYTES = 64 * 1024
/** Most bodies have no more chunks; theirs are not copied. */
const FEW_CHUNKS = 16

export class GatheredChunks {
  #chunks: Buffer[] = []
  /** The small chunks since the last long one; null until there is one. */
  #small: Buffer | null = null
  #smallBytes = 0

  add(chunk: Buffer): void {
    if (chunk.length < SMALL_BYTES && this.#chunks.length >= FEW_CHUNKS) {
      if (this.#smallBytes + chunk.length > COPIED_BYTES) this.#keepSmall()
      this.#small ??= Buffer.allocUnsafeSlow(COPIED_BYTES)
      this.#smallBytes += chunk.copy(this.#small, this.#smallBytes)
      return
    }
    this.#keepSmall()
    this.#chunks.push(chunk)
  }

  /** Number of objects in memory. */
  get length(): number {
    return this.#chunks.length
  }

  /** Returns everything, and keeps nothing. */
  take(): Buffer {
    this.#keepSmall()
    const chunks = this.#chunks
    this.clear()
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  }

  clear(): void {
    this.#chunks = []
    this.#small = null
    this.#smallBytes = 0
  }

  #keepSmall(): void {
    if (this.#small === null || this.#smallBytes === 0) return
    this.#chunks.push(Buffer.from(this.#small.subarray(0, this.#smallBytes)))
    this.#smallBytes = 0
  }
}
