/** Images and files in the messages and outputs of a responses request. */

import { isHttpUrl, readDataUrl } from '../../conversation/images.ts'
import { refuse, refuseCapability } from '../../conversation/refuse.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withMember } from '../copy.ts'
import type { DialectFacts } from '../types.ts'

export function withContents(items: readonly JsonValue[], facts: DialectFacts): JsonValue[] {
  const { content } = facts.dialect
  if (facts.hasVision && content.imageUrl === 'pass' && content.documents === 'file') return items as JsonValue[]
  return mapList(items, (item, index) => {
    if (!isObject(item)) return item
    let changed = item
    for (const member of ['content', 'output'] as const) {
      const parts = item[member]
      if (!Array.isArray(parts)) continue
      const written = mapList(parts, part => partFor(part, facts.place(index), facts))
      changed = withMember(changed, member, written)
    }
    return changed
  })
}

function partFor(part: JsonValue, place: string, facts: DialectFacts): JsonValue {
  if (!isObject(part)) return part
  if (part.type === 'input_image') return imageFor(part, place, facts)
  return part.type === 'input_file' ? fileFor(part, place, facts) : part
}

function imageFor(part: JsonObject, place: string, { dialect, hasVision }: DialectFacts): JsonObject {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder') return note('image omitted: this model takes no images')
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (dialect.content.imageUrl === 'pass') return part
  const url = textOrNull(part.image_url) ?? textOrNull(objectOrNull(part.image_url)?.url)
  return url === null || !isHttpUrl(url)
    ? part
    : refuse(place, 'this model takes no image URLs; send the image as base64')
}

function fileFor(part: JsonObject, place: string, { dialect }: DialectFacts): JsonObject {
  if (dialect.content.documents === 'file') return part
  const title = textOrNull(part.filename) ?? 'document.pdf'
  const data = readDataUrl(textOrNull(part.file_data) ?? '')
  if (data !== null && (data.mediaType.startsWith('text/') || data.mediaType === 'application/json')) {
    const text = Buffer.from(data.data, 'base64').toString('utf8')
    return { type: 'input_text', text: `${title}\n\n${text}` }
  }
  if (dialect.content.documents === 'placeholder') {
    return note(`document ${title} omitted: this model takes no documents`)
  }
  return refuseCapability('document_block', `${place}: this model takes no documents`)
}

function note(text: string): JsonObject {
  return { type: 'input_text', text: `[${text}]` }
}
