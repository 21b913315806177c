/** Adapts images and files in the messages and tool outputs of a Responses request. */

import { isHttpUrl } from '../../conversation/images.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withEach } from '../copy.ts'
import { asksOfMedia, givenFile, takesDocuments, textForDocument, textForImage } from '../media.ts'
import type { DialectFacts } from '../types.ts'

export function withContents(items: readonly JsonValue[], facts: DialectFacts): JsonValue[] {
  if (!asksOfMedia(facts)) return items as JsonValue[]
  return mapList(items, (item, index) => {
    if (!isObject(item)) return item
    let changed = item
    for (const member of ['content', 'output'] as const) {
      changed = withEach(changed, member, part => partFor(part, facts.place(index), facts))
    }
    return changed
  })
}

function partFor(part: JsonValue, place: string, facts: DialectFacts): JsonValue {
  if (!isObject(part)) return part
  const text = textFor(part, place, facts)
  return text === null ? part : { type: 'input_text', text }
}

/** Returns the text that replaces an image or file; null if it stays. */
function textFor(part: JsonObject, place: string, facts: DialectFacts): string | null {
  if (part.type === 'input_image') {
    const url = textOrNull(part.image_url) ?? textOrNull(objectOrNull(part.image_url)?.url)
    return textForImage(facts, place, url !== null && isHttpUrl(url))
  }
  if (part.type !== 'input_file' || takesDocuments(facts.dialect)) return null
  return textForDocument(facts, place, givenFile(textOrNull(part.filename), textOrNull(part.file_data)))
}
