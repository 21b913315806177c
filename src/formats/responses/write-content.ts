/** Writes text, images and documents as the content of a responses request. */

import { dataUrl, imageUrl, pdfName } from '../../conversation/images.ts'
import type { ContentPart, ResultContent, ResultPart } from '../../conversation/request.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

export function isContent(part: ContentPart): part is ResultContent {
  return part.kind === 'text' || part.kind === 'image' || part.kind === 'document'
}

/** Leaves out empty text parts. */
export function writeContent(parts: readonly ResultContent[]): JsonObject[] {
  return parts.filter(part => part.kind !== 'text' || part.text !== '').map(writePart)
}

/**
 * Writes a tool's output; text-only output becomes a single string. The format cannot mark an output as failed, so the text
 * says so.
 */
export function writeOutput({ content, isError }: ResultPart): JsonValue {
  if (content.every(part => part.kind === 'text')) {
    const text = content
      .map(part => part.text)
      .filter(Boolean)
      .join('\n')
    return isError ? `Error: ${text}` : text
  }
  const parts = writeContent(content)
  return isError ? [{ type: 'input_text', text: 'Error:' }, ...parts] : parts
}

function writePart(part: ResultContent): JsonObject {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      return { type: 'input_image', image_url: imageUrl(part.source), detail: part.detail ?? 'auto' }
    case 'document': {
      if (part.source.type === 'url') return { type: 'input_file', file_url: part.source.url }
      const { mediaType, data } = part.source
      return { type: 'input_file', filename: pdfName(part.title), file_data: dataUrl(mediaType, data) }
    }
  }
}
