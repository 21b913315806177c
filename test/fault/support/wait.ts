/** Waits, with a timeout, until other processes have brought about a condition. */

import { setTimeout as sleep } from 'node:timers/promises'

export { sleep }

/** Polls until the value is as wanted; throws after `timeoutMs` with the last value. */
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
