/** Collects what counts as input tokens in a messages request: text, images and documents. */

import { type InputWeight, imageSize, noInput, pagesOf } from '../../conversation/input-weight.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

/** Content nested deeper than this is not searched. */
const DEPTH_MAX = 12

export function weighInput(body: JsonObject): InputWeight {
  const weight = noInput()
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
      weight.images.push(imageSize(textOrNull(objectOrNull(block.source)?.data)))
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

function weighDocument(source: JsonObject | null, weight: InputWeight, depth: number): void {
  const data = textOrNull(source?.data)
  if (source?.type === 'text' && data !== null) weight.texts.push(data)
  else if (source?.type === 'content') weighContent(source.content, weight, depth + 1)
  else weight.documentPages += pagesOf(data)
}
