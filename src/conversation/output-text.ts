/**
 * Extracts the output text of a non-streamed reply in the messages or chat format, so that its tokens can be counted if the
 * provider reports no usage. The parts are joined without separators, as in a stream, so that a reply costs the same whether or
 * not it is streamed.
 */

import { isObject, type JsonValue } from '../lib/json.ts'

const DEPTH_MAX = 8

const OUTPUT_KEYS: ReadonlySet<string> = new Set([
  ...['choices', 'message', 'content', 'summary', 'text', 'thinking', 'refusal'],
  ...['tool_calls', 'function_call', 'function', 'custom', 'arguments', 'input'],
])
/** Members that may hold the reasoning of a chat message. If several do, it is the same. */
const REASONING_KEYS = ['reasoning_content', 'reasoning', 'reasoning_details']

export function outputTextOf(value: JsonValue | undefined, depth = 0): string {
  if (typeof value === 'string') return value
  if (depth > DEPTH_MAX) return ''
  if (Array.isArray(value)) return value.map(item => outputTextOf(item, depth + 1)).join('')
  if (!isObject(value)) return ''
  const reasoning = REASONING_KEYS.find(key => value[key])
  return Object.entries(value)
    .filter(([key]) => OUTPUT_KEYS.has(key) || key === reasoning)
    .map(([key, inner]) => {
      const isJson = (key === 'input' || key === 'arguments') && typeof inner === 'object'
      return isJson ? JSON.stringify(inner) : outputTextOf(inner, depth + 1)
    })
    .join('')
}
