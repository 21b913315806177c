/** Adapts content blocks of a messages request: images, documents, and text that must be a plain string. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withMember } from '../copy.ts'
import { asksOfMedia, type GivenDocument, takesDocuments, textForDocument, textForImage } from '../media.ts'
import type { DialectFacts } from '../types.ts'

/**
 * Whether the upstream's model restricts content (images, documents, or lists of text blocks), so that content must be
 * inspected.
 */
export function asksOfContent(facts: DialectFacts): boolean {
  return asksOfMedia(facts) || facts.dialect.content.text === 'string'
}

export function withContent(content: JsonValue | undefined, place: string, facts: DialectFacts): JsonValue | undefined {
  if (!Array.isArray(content)) return content
  const written = mapList(content, block => blockFor(block, place, facts))
  const strings = facts.dialect.content.text === 'string'
  const texts = written === content && !strings ? null : plainTexts(written)
  return texts === null || (!strings && texts.length > 1) ? written : texts.join('\n\n')
}

/**
 * Adds the document's title as text if content has a document but no text. Some hosts require text beside a document, in messages
 * and in tool results.
 */
export function withTitles(content: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(content)) return content
  const blocks = mapList(content, block => {
    const inner = isObject(block) && block.type === 'tool_result' ? withTitles(block.content) : undefined
    return inner === undefined ? block : withMember(block as JsonObject, 'content', inner)
  })
  const at = blocks.findIndex(block => isObject(block) && block.type === 'document')
  const document = blocks[at]
  const hasText = blocks.some(block => isObject(block) && block.type === 'text')
  if (!isObject(document) || hasText) return blocks
  return blocks.toSpliced(at + 1, 0, { type: 'text', text: textOrNull(document.title) ?? 'document.pdf' })
}

/** Returns the blocks' texts if all blocks are text blocks without cache breakpoints; otherwise null. */
function plainTexts(blocks: readonly JsonValue[]): string[] | null {
  const texts = blocks.map(block =>
    isObject(block) && block.type === 'text' && block.cache_control === undefined ? block.text : null,
  )
  return texts.every(text => typeof text === 'string') ? texts : null
}

function blockFor(block: JsonValue, place: string, facts: DialectFacts): JsonValue {
  if (!isObject(block)) return block
  switch (block.type) {
    case 'image': {
      const text = textForImage(facts, place, objectOrNull(block.source)?.type === 'url')
      return text === null ? block : { type: 'text', text }
    }
    case 'document':
      if (takesDocuments(facts.dialect)) return block
      return { type: 'text', text: textForDocument(facts, place, givenDocument(block)) }
    case 'tool_result': {
      const content = withContent(block.content, place, facts)
      return content === undefined ? block : withMember(block, 'content', content)
    }
    default:
      return block
  }
}

function givenDocument(block: JsonObject): GivenDocument {
  const source = objectOrNull(block.source)
  const title = textOrNull(block.title)
  const isText = source?.type === 'text' || source?.type === 'content'
  const content = source?.type === 'text' ? source.data : textsOf(source?.content)
  const text = [title, content].filter(line => typeof line === 'string' && line !== '').join('\n\n')
  return { text: isText ? text : null, note: `[document ${title ?? 'document.pdf'} omitted]` }
}

function textsOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  return arrayOrEmpty(content)
    .map(block => textOrNull(objectOrNull(block)?.text) ?? '')
    .join('\n')
}
