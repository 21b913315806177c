/** Defers non-critical start-up work. */

const LATER_MS = 1_000

/** Runs `work` once, a second later, unless the returned function is called first. Does not keep the process alive. */
export function defer(work: () => void): () => void {
  const timer = setTimeout(work, LATER_MS).unref()
  return () => clearTimeout(timer)
}
