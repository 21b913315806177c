/** Work that a start leaves for when its first calls have had their answers. */

const LATER_MS = 1_000

/** Runs `work` once, unless the answer is called before. Keeps no process alive. */
export function defer(work: () => void): () => void {
  const timer = setTimeout(work, LATER_MS).unref()
  return () => clearTimeout(timer)
}
