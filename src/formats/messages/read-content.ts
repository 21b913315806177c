/**
 * Reads content blocks of the messages format as conversation parts. Refuses blocks that other formats cannot express, and
 * names the block's path.
 */

import type { ReadFacts } from '../../conversation/format.ts'
import { readImageSource } from '../../conversation/read-media.ts'
import { unwrappedReasoning } from '../../conversation/reasoning-envelope.ts'
import { refuse } from '../../conversation/refuse.ts'
import type {
  CallPart,
  ContentPart,
  DocumentPart,
  ResultContent,
  ResultPart,
  TextPart,
} from '../../conversation/request.ts'
import { readSignedId } from '../../conversation/signed-ids.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

/** Reads content that is a string or an array of blocks. `place`: path of the content, such as `messages.2.content`. */
export function readContent(content: JsonValue | undefined, place: string, facts: ReadFacts): ContentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  if (!Array.isArray(content)) refuse(place, 'Input should be a valid string or list of content blocks')
  return content.flatMap((block, index) => readBlock(block, `${place}.${index}`, facts))
}

function readBlock(value: JsonValue, place: string, facts: ReadFacts): ContentPart[] {
  const block = objectOrNull(value) ?? refuse(place, 'Input should be a valid content block')
  const shared = readSharedBlock(block, place)
  if (shared !== null) return shared
  switch (block.type) {
    case 'thinking': {
      const thinking = textOrNull(block.thinking)
      return [unwrappedReasoning(thinking ?? '', textOrNull(block.signature), facts)]
    }
    case 'redacted_thinking': {
      const hidden = unwrappedReasoning('', textOrNull(block.data), facts)
      return hidden.seal === null ? [{ kind: 'gap' }] : [hidden]
    }
    case 'tool_use':
      return [readCall(block, place)]
    case 'tool_result':
      return [readResult(block, place)]
    case 'compaction': {
      // A summary that replaces an earlier part of the conversation.
      const summary = textOrNull(block.content)
      return summary === null ? [] : [{ kind: 'text', text: summary }]
    }
    default:
      return isProvidersOwn(block.type) ? [{ kind: 'gap' }] : refuseBlock(block, place)
  }
}

/** Reads a block of a type allowed in both messages and tool results; null for other types. */
function readSharedBlock(block: JsonObject, place: string): ResultContent[] | null {
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') refuse(`${place}.text`, 'Input should be a valid string')
      return [{ kind: 'text', text: block.text, ...cacheControl(block) }]
    case 'image':
      return [{ ...readImageSource(block.source, `${place}.source`), ...cacheControl(block) }]
    case 'document':
      return readDocument(block, place)
    case 'search_result':
      return [searchResultText(block)]
    default:
      return null
  }
}

/**
 * Whether a block only makes sense to the provider: calls and results of tools that the provider runs, and control blocks such
 * as `fallback` or `tool_addition`.
 */
function isProvidersOwn(type: JsonValue | undefined): boolean {
  if (typeof type !== 'string') return false
  if (type.endsWith('_tool_result') || type.endsWith('_tool_use')) return true
  const others = ['container_upload', 'fallback', 'mcp_tool_listing', 'tool_addition', 'tool_removal']
  return others.includes(type)
}

function refuseBlock(block: JsonObject, place: string): never {
  return refuse(place, `content blocks of type ${JSON.stringify(block.type ?? null)} are not supported by this model`)
}

function readDocument(block: JsonObject, place: string): ResultContent[] {
  const source = objectOrNull(block.source)
  const title = textOrNull(block.title) ?? ''
  // What the client tells the model about the document.
  const context = textOrNull(block.context)
  const data = textOrNull(source?.data)
  switch (source?.type) {
    case 'base64': {
      if (data === null) refuse(`${place}.source.data`, 'Input should be a valid base64 string')
      const mediaType = textOrNull(source.media_type) ?? 'application/pdf'
      return documentParts({ type: 'base64', mediaType, data })
    }
    case 'text':
      return [titledText([title, context], data ?? '', block)]
    case 'content': {
      const content = readResultContent(source.content, `${place}.source.content`)
      return [...textParts(title, context), ...content]
    }
    case 'url':
      return documentParts({
        type: 'url',
        url: textOrNull(source.url) ?? refuse(`${place}.source.url`, 'Field required'),
      })
    default:
      return refuse(`${place}.source`, 'file ids belong to one provider and cannot be used here; send base64 or text')
  }

  function documentParts(from: DocumentPart['source']): ResultContent[] {
    const document = {
      kind: 'document',
      source: from,
      title,
      place: `${place}.source`,
      ...cacheControl(block),
    } as const
    return [...textParts(context), document]
  }
}

function textParts(...texts: readonly (string | null)[]): TextPart[] {
  return texts.filter(isFilled).map(text => ({ kind: 'text', text }))
}

function titledText(head: readonly (string | null)[], text: string, block: JsonObject): TextPart {
  return { kind: 'text', text: [...head.filter(isFilled), text].join('\n\n'), ...cacheControl(block) }
}

function isFilled(text: string | null): text is string {
  return text !== null && text !== ''
}

function searchResultText(block: JsonObject): TextPart {
  const text = arrayOrEmpty(block.content).map(part => textOrNull(objectOrNull(part)?.text) ?? '')
  const head = [textOrNull(block.title), textOrNull(block.source)].filter(line => line !== null).join('\n')
  return titledText([head], text.join('\n'), block)
}

function readCall(block: JsonObject, place: string): CallPart {
  const name = textOrNull(block.name) ?? refuse(`${place}.name`, 'Field required')
  const { id, signature } = readSignedId(textOrNull(block.id) ?? refuse(`${place}.id`, 'Field required'))
  return { kind: 'call', id, name, input: objectOrNull(block.input) ?? {}, signature }
}

function readResult(block: JsonObject, place: string): ResultPart {
  const { id } = readSignedId(textOrNull(block.tool_use_id) ?? refuse(`${place}.tool_use_id`, 'Field required'))
  return {
    kind: 'result',
    id,
    name: '',
    content: readResultContent(block.content, `${place}.content`),
    isError: block.is_error === true,
    place,
    ...cacheControl(block),
  }
}

function readResultContent(content: JsonValue | undefined, place: string): ResultContent[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  if (!Array.isArray(content)) refuse(place, 'Input should be a valid string or list of content blocks')
  return content.flatMap((value, index) => {
    const block = objectOrNull(value) ?? refuse(`${place}.${index}`, 'Input should be a valid content block')
    const shared = readSharedBlock(block, `${place}.${index}`)
    if (shared !== null) return shared
    // A tool that a tool search found. All tools are declared from the start, so the name is enough.
    if (block.type === 'tool_reference') {
      return [{ kind: 'text' as const, text: `Tool available: ${textOrNull(block.tool_name) ?? ''}` }]
    }
    return refuseBlock(block, `${place}.${index}`)
  })
}

function cacheControl(block: JsonObject): { cacheControl?: JsonObject } {
  return isObject(block.cache_control) ? { cacheControl: block.cache_control } : {}
}
