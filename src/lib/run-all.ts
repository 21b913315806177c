/** Runs steps that do not depend on each other one after another. */

/** Runs every step, even if earlier ones fail; then rejects with the first error, if there was one. */
export async function runAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const faults: unknown[] = []
  for (const step of steps) await step().catch(fault => faults.push(fault))
  if (faults.length > 0) throw faults[0]
}
