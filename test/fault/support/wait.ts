/** Polls, with a timeout, for conditions that other processes bring about. */

import { setTimeout as sleep } from 'node:timers/promises'

export { sleep }

/** Polls until `wanted` accepts the value; after `timeoutMs`, throws with the last value. */
export async function eventually<Value>(
  look: () => Promise<Value> | Value,
  wanted: (value: Value) => boolean,
  { timeoutMs = 60_000, pauseMs = 20 }: { timeoutMs?: number; pauseMs?: number } = {},
): Promise<Value> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    let seen: unknown
    try {
      const value = await look()
      if (wanted(value)) return value
      seen = value
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    if (performance.now() > deadline) throw new Error(`after ${timeoutMs} ms still ${textOf(seen)}`)
    await sleep(pauseMs)
  }
}

function textOf(value: unknown): string {
  return String(JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner)))
}
