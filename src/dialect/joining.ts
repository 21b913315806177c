/**
 * Merges neighbouring turns of the same role, for upstreams that require roles to alternate. Thousands of neighbours are put
 * together at once, because joining one after the other would copy what is joined already each time.
 */

import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import { combined } from './copy.ts'

const PARAGRAPH = '\n\n'

/** Merges neighbours with the same role. `mayGrow` decides whether the next message may be merged into this one. */
export function merged(messages: readonly JsonValue[], mayGrow: (message: JsonObject) => boolean): JsonValue[] {
  const runs: JsonValue[][] = []
  for (const message of messages) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const joins = isObject(last) && isObject(message) && last.role === message.role && mayGrow(last)
    if (joins) run?.push(message)
    else runs.push([message])
  }
  if (runs.length === messages.length) return messages as JsonValue[]
  return runs.map(run => (run.length === 1 ? (run[0] as JsonValue) : joined(run as JsonObject[])))
}

/** Merges messages of one role. Of other members, the last one stays. */
export function joined(messages: readonly JsonObject[]): JsonObject {
  const contents = messages.map(({ content }) => content)
  return { ...combined(messages), content: joinedContents(contents, PARAGRAPH) }
}

/** Returns a text if all contents are texts, otherwise a list of parts, of which the leading texts are one. */
export function joinedContents(contents: readonly (JsonValue | undefined)[], separator: string): JsonValue {
  const other = contents.findIndex(content => typeof content !== 'string')
  const texts = (other < 0 ? contents : contents.slice(0, other)) as readonly string[]
  const text = joinedTexts(texts, separator)
  return other < 0 ? text : [text, ...contents.slice(other)].flatMap(partsOf)
}

export function joinedTexts(texts: readonly string[], separator = PARAGRAPH): string {
  return texts.filter(Boolean).join(separator)
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(content)) return content
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}
