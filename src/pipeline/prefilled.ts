/** Recognises Chat Completions requests that ask the model to continue the last message. */

import type { UpstreamTarget } from '../generated/types.ts'
import { arrayOrEmpty, isObject, type JsonObject } from '../lib/json.ts'

/** Whether the last message has the flag (`prefix` or `partial`) that makes this target's model continue it. */
export function isPrefilled(upstreamBody: JsonObject, { dialect }: UpstreamTarget): boolean {
  const { prefill } = dialect.turns
  if (prefill !== 'prefix' && prefill !== 'partial') return false
  const last = arrayOrEmpty(upstreamBody.messages).at(-1)
  return isObject(last) && last[prefill] === true
}
