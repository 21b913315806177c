/** What the input of a messages request consists of, for a count: its text, its images, its documents. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { type PictureSize, pictureSize } from '../../lib/picture.ts'

export interface InputWeight {
  /** All text that the model reads, tool definitions and tool calls as JSON. */
  readonly texts: string[]
  /** Sizes in pixels; null for an image whose size is not in the request. */
  readonly images: (PictureSize | null)[]
  /** Pages of documents that are not text. */
  documentPages: number
  turns: number
  tools: number
}

/** Nesting of content that is looked into. */
const DEPTH_MAX = 12
/** Base64 characters of an image that are decoded: sizes stand in the first bytes, behind at most some metadata. */
const HEADER_CHARACTERS_MAX = 512 * 1024
/** Base64 characters of a document that are searched for pages. */
const DOCUMENT_CHARACTERS_MAX = 8 * 1024 * 1024
/** Bytes per page of a document whose pages cannot be told. */
const BYTES_PER_PAGE = 50_000

export function weighInput(body: JsonObject): InputWeight {
  const weight: InputWeight = { texts: [], images: [], documentPages: 0, turns: 0, tools: 0 }
  weighContent(body.system, weight, 0)
  for (const message of arrayOrEmpty(body.messages)) {
    weight.turns++
    weighContent(objectOrNull(message)?.content, weight, 0)
  }
  for (const tool of arrayOrEmpty(body.tools)) {
    weight.tools++
    weight.texts.push(JSON.stringify(tool))
  }
  const format = objectOrNull(body.output_config)?.format ?? body.output_format
  if (isObject(format)) weight.texts.push(JSON.stringify(format))
  return weight
}

function weighContent(content: JsonValue | undefined, weight: InputWeight, depth: number): void {
  if (typeof content === 'string') weight.texts.push(content)
  else if (Array.isArray(content)) for (const block of content) weighContent(block, weight, depth + 1)
  else if (isObject(content) && depth <= DEPTH_MAX) weighBlock(content, weight, depth)
}

function weighBlock(block: JsonObject, weight: InputWeight, depth: number): void {
  switch (block.type) {
    case 'image':
      weight.images.push(imageSize(objectOrNull(block.source)))
      return
    case 'document':
      weighContent(block.title, weight, depth)
      weighContent(block.context, weight, depth)
      weighDocument(objectOrNull(block.source), weight, depth)
      return
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      weight.texts.push(textOrNull(block.name) ?? '', JSON.stringify(block.input ?? {}))
      return
    default:
      for (const key of ['title', 'source', 'text', 'thinking', 'content'] as const)
        weighContent(block[key], weight, depth)
  }
}

function imageSize(source: JsonObject | null): PictureSize | null {
  const data = textOrNull(source?.data)
  return data === null ? null : pictureSize(Buffer.from(data.slice(0, HEADER_CHARACTERS_MAX), 'base64'))
}

function weighDocument(source: JsonObject | null, weight: InputWeight, depth: number): void {
  const data = textOrNull(source?.data)
  if (source?.type === 'text' && data !== null) weight.texts.push(data)
  else if (source?.type === 'content') weighContent(source.content, weight, depth + 1)
  else weight.documentPages += data === null ? 1 : pagesOf(data)
}

/** Pages of a PDF: its page objects where they can be read, else by its size. */
function pagesOf(data: string): number {
  const bytes = Buffer.from(data.slice(0, DOCUMENT_CHARACTERS_MAX), 'base64')
  const found = bytes.toString('latin1').match(/\/Type ?\/Page(?![a-zA-Z])/g)?.length ?? 0
  if (found > 0) return Math.ceil((found * data.length) / Math.min(data.length, DOCUMENT_CHARACTERS_MAX))
  return Math.max(1, Math.round((data.length * 0.75) / BYTES_PER_PAGE))
}
