/**
 * The output that a whole reply of either chat format carries, as text to count when the provider reported no usage. Its
 * parts follow each other without anything between, as they do in a stream, so that both cost the same.
 */

import { isObject, type JsonValue } from '../lib/json.ts'

const DEPTH_MAX = 8

const OUTPUT_KEYS: ReadonlySet<string> = new Set([
  'choices',
  'message',
  'content',
  'summary',
  'text',
  'thinking',
  'input',
  'reasoning_content',
  'refusal',
  'tool_calls',
  'function',
  'arguments',
])

export function outputTextOf(value: JsonValue | undefined, depth = 0): string {
  if (typeof value === 'string') return value
  if (depth > DEPTH_MAX) return ''
  if (Array.isArray(value)) return value.map(item => outputTextOf(item, depth + 1)).join('')
  if (!isObject(value)) return ''
  return Object.entries(value)
    .filter(([key]) => OUTPUT_KEYS.has(key))
    .map(([key, inner]) => (key === 'input' ? JSON.stringify(inner) : outputTextOf(inner, depth + 1)))
    .join('')
}
