/** Writes an image edit request as the multipart form that providers take: the model, text fields, and images as files. */

import { applyRules } from '../../dialect/rules.ts'
import type { UpstreamTarget } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { type FormPart, writeForm } from '../../lib/multipart.ts'
import type { FetchedImage } from '../../upstream/fetch-image.ts'
import { fileNameOf } from './reference.ts'

export interface EditParts {
  readonly fields: JsonObject
  readonly references: readonly FetchedImage[]
  readonly mask: FetchedImage | null
}

/** Body and content type of the form. The catalogue's rules are applied to the text fields. */
export function upstreamForm(
  { fields, references, mask }: EditParts,
  target: UpstreamTarget,
): Promise<{ body: Buffer; contentType: string }> {
  const texts = applyRules({ ...fields, model: target.model }, target.rules, 'images_edits')
  const parts = Object.entries(texts).flatMap(([name, value]) => textParts(name, value))
  const images = references.map((image, index) => filePart('image[]', image, `image-${index + 1}`))
  return writeForm([...parts, ...images, ...(mask === null ? [] : [filePart('mask', mask, 'mask')])])
}

function filePart(name: string, image: FetchedImage, fileName: string): FormPart {
  const { bytes, mediaType } = image
  return { name, value: { bytes, contentType: mediaType, filename: fileNameOf(image, fileName) } }
}

/** Turns a field into form parts: text as it is, a list as one part per element, anything else as JSON; null is omitted. */
function textParts(name: string, value: JsonValue | undefined): FormPart[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) {
    const listName = name.endsWith('[]') ? name : `${name}[]`
    return value.flatMap(item => textParts(listName, Array.isArray(item) ? JSON.stringify(item) : item))
  }
  return [{ name, value: typeof value === 'string' ? value : JSON.stringify(value) }]
}
