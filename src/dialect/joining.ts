/** Merges neighbouring turns of the same role, for upstreams that require roles to alternate. */

import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

/** Merges neighbours with the same role. `mayJoin` decides whether two of them may be merged. */
export function merged(
  messages: readonly JsonValue[],
  mayJoin: (first: JsonObject, second: JsonObject) => boolean,
): JsonValue[] {
  const out: JsonValue[] = []
  for (const message of messages) {
    const last = out.at(-1)
    const joins = isObject(last) && isObject(message) && last.role === message.role && mayJoin(last, message)
    if (joins) out.splice(-1, 1, joined(last, message))
    else out.push(message)
  }
  return out.length === messages.length ? (messages as JsonValue[]) : out
}

export function joined(first: JsonObject, second: JsonObject): JsonObject {
  return { ...first, ...second, role: first.role, content: joinedContent(first.content, second.content) }
}

function joinedContent(first: JsonValue | undefined, second: JsonValue | undefined): JsonValue {
  if (typeof first === 'string' && typeof second === 'string') return joinedTexts(first, second)
  return [...partsOf(first), ...partsOf(second)]
}

export function joinedTexts(...texts: string[]): string {
  return texts.filter(Boolean).join('\n\n')
}

export function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(content)) return content
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}
