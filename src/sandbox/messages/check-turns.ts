/**
 * Refuses turns and blocks that the messages format refuses: wrong roles, empty texts, tool calls without results, bad images.
 */

import { isObject, type Json, type JsonObject, listOf } from '../json.ts'
import { invalid, type ModelFacts } from '../model.ts'
import { pictureInfo } from '../picture-info.ts'
import { isAcceptedSignature } from './signature.ts'

const CALL_ID = /^[a-zA-Z0-9_-]+$/
const FOREIGN_BLOCKS = [
  'image_url',
  'input_text',
  'input_image',
  'input_audio',
  'output_text',
  'file',
  'refusal',
  'function',
]
const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

/** Throws ProviderError for the first fault. */
export function checkTurns(body: JsonObject, facts: ModelFacts): void {
  const messages = body.messages
  if (messages === undefined) throw invalid('messages: Field required')
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid list')
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  const turns = messages.map((message, index) => checkTurn(message, index, messages.length, facts))
  if (turns[0]!.role !== 'user') throw invalid('messages: first message must use the "user" role')
  checkPairs(turns)
  checkThinkingFirst(body, turns)
  checkPrefill(turns, facts)
}

interface Turn {
  readonly role: string
  readonly blocks: readonly JsonObject[]
  readonly text: string | null
}

function checkTurn(message: Json, index: number, count: number, facts: ModelFacts): Turn {
  const at = `messages.${index}`
  if (!isObject(message)) throw invalid(`${at}: Input should be a valid dictionary or object to extract fields from`)
  const { role, content } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(`${at}.role: Input should be 'user' or 'assistant'`)
  }
  if (role === 'system' && facts.refuses?.includes('role:system')) {
    throw invalid(`${at}.role: Input should be 'user' or 'assistant'`)
  }
  for (const field of ['tool_calls', 'tool_call_id', 'reasoning_content', 'name', 'function_call', 'refusal']) {
    if (Object.hasOwn(message, field)) throw invalid(`${at}.${field}: Extra inputs are not permitted`)
  }
  if (content === undefined) throw invalid(`${at}.content: Field required`)
  const isLastAssistant = role === 'assistant' && index === count - 1
  if (
    (content === '' || (Array.isArray(content) && content.length === 0)) &&
    role !== 'assistant' &&
    !isLastAssistant
  ) {
    throw invalid(`${at}: all messages must have non-empty content except for the optional final assistant message`)
  }
  if (typeof content === 'string') return { role, blocks: [], text: content }
  if (!Array.isArray(content)) throw invalid(`${at}.content: Input should be a valid string`)
  const blocks = content.map((block, position) => checkBlock(block, `${at}.content.${position}`, role, facts))
  const texts = blocks.filter(block => block.type === 'text')
  if (blocks.length > 0 && texts.length === blocks.length && texts.every(block => String(block.text).trim() === '')) {
    throw invalid('messages: text content blocks must contain non-whitespace text')
  }
  return { role, blocks, text: null }
}

function checkBlock(block: Json, at: string, role: string, facts: ModelFacts): JsonObject {
  if (!isObject(block)) throw invalid(`${at}: Input should be a valid dictionary or object to extract fields from`)
  if (typeof block.type !== 'string') throw invalid(`${at}.type: Field required`)
  if (FOREIGN_BLOCKS.includes(block.type)) {
    throw invalid(
      `${at}: Input tag '${block.type}' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'thinking', 'tool_result', 'tool_use'`,
    )
  }
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw invalid(`${at}.text.text: Field required`)
      if (block.text === '') throw invalid('messages: text content blocks must be non-empty')
      break
    case 'image':
      checkPicture(block, at, facts)
      break
    case 'document':
      if (!isObject(block.source)) throw invalid(`${at}.document.source: Field required`)
      break
    case 'thinking':
      checkThinkingBlock(block, at)
      break
    case 'tool_use':
      if (role !== 'assistant')
        throw invalid(`${turnOf(at)}: \`tool_use\` blocks can only be in \`assistant\` messages`)
      checkCall(block, at)
      break
    case 'tool_result':
      if (role !== 'user') throw invalid(`${turnOf(at)}: \`tool_result\` blocks can only be in \`user\` messages`)
      checkResult(block, at, facts)
      break
  }
  return block
}

/** The part of a path that leads to the turn: `messages.3` for `messages.3.content.0`. */
function turnOf(at: string): string {
  return at.split('.').slice(0, 2).join('.')
}

function checkCall(block: JsonObject, at: string): void {
  if (typeof block.id !== 'string') throw invalid(`${at}.tool_use.id: Field required`)
  if (!CALL_ID.test(block.id)) throw invalid(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
  if (typeof block.name !== 'string' || block.name === '') throw invalid(`${at}.tool_use.name: Field required`)
  if (!isObject(block.input)) throw invalid(`${at}.tool_use.input: Input should be a valid dictionary`)
}

function checkResult(block: JsonObject, at: string, facts: ModelFacts): void {
  if (typeof block.tool_use_id !== 'string') throw invalid(`${at}.tool_result.tool_use_id: Field required`)
  const { content } = block
  if (content === undefined || typeof content === 'string') return
  if (!Array.isArray(content)) throw invalid(`${at}.tool_result.content: Input should be a valid string`)
  for (const [index, inner] of content.entries())
    checkBlock(inner, `${at}.tool_result.content.${index}`, 'result', facts)
}

function checkThinkingBlock(block: JsonObject, at: string): void {
  if (typeof block.thinking !== 'string') throw invalid(`${at}.thinking.thinking: Field required`)
  if (typeof block.signature !== 'string') throw invalid(`${at}.thinking.signature: Field required`)
  if (!isAcceptedSignature(block.signature, block.thinking))
    throw invalid(`${at}: Invalid \`signature\` in \`thinking\` block`)
}

function checkPicture(block: JsonObject, at: string, facts: ModelFacts): void {
  if (!facts.vision) throw invalid(`${at}: this model does not support image input`)
  const source = block.source
  if (!isObject(source)) throw invalid(`${at}.image.source: Field required`)
  if (source.type === 'url') {
    if (!/^https?:\/\//.test(String(source.url)))
      throw invalid(`${at}.image.source.url: Only HTTPS URLs are supported.`)
    return
  }
  if (source.type !== 'base64') return
  if (!PICTURE_TYPES.includes(String(source.media_type))) {
    throw invalid(
      `${at}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    )
  }
  if (typeof source.data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(source.data)) {
    throw invalid(`${at}.image.source.base64: invalid base64 data`)
  }
  const info = pictureInfo(Buffer.from(source.data, 'base64'))
  if (info === null) throw invalid('Could not process image')
  if (info.mediaType !== source.media_type) {
    throw invalid(
      `${at}.image.source.base64: The image was specified using the ${source.media_type} media type, but the image appears to be a ${info.mediaType} image`,
    )
  }
}

/** Throws unless a turn with tool calls is followed by a user turn that begins with one result per call. */
function checkPairs(turns: readonly Turn[]): void {
  const seen = new Set<string>()
  const spoken = turns.map((turn, index) => ({ ...turn, index })).filter(turn => turn.role !== 'system')
  let open: string[] = []
  let openedAt = 0
  for (const turn of mergeNeighbours(spoken)) {
    const results = turn.blocks.filter(block => block.type === 'tool_result').map(block => String(block.tool_use_id))
    const stray = results.find(id => !open.includes(id))
    if (stray !== undefined) {
      throw invalid(
        `messages.${turn.index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      )
    }
    const twice = results.find((id, position) => results.indexOf(id) !== position)
    if (twice !== undefined) {
      throw invalid(
        `messages.${turn.index}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`,
      )
    }
    const leading = turn.blocks.slice(0, results.length).map(block => String(block.tool_use_id))
    const missing = open.filter(id => !leading.includes(id))
    if (missing.length > 0) throw unanswered(openedAt, missing)
    open = turn.blocks.filter(block => block.type === 'tool_use').map(block => String(block.id))
    for (const id of open) {
      if (seen.has(id)) throw invalid('messages: `tool_use` ids must be unique')
      seen.add(id)
    }
    openedAt = turn.index
  }
  if (open.length > 0) throw unanswered(openedAt, open)
}

function unanswered(index: number, ids: readonly string[]) {
  return invalid(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  )
}

function mergeNeighbours(turns: readonly (Turn & { index: number })[]) {
  const merged: { role: string; index: number; blocks: JsonObject[] }[] = []
  for (const turn of turns) {
    const last = merged.at(-1)
    const blocks = turn.text === null ? turn.blocks : [{ type: 'text', text: turn.text }]
    if (last?.role === turn.role) last.blocks.push(...blocks)
    else merged.push({ role: turn.role, index: turn.index, blocks: [...blocks] })
  }
  return merged
}

/** In a request with a thinking budget, requires that a turn whose tool calls are being answered begins with its thinking. */
function checkThinkingFirst(body: JsonObject, turns: readonly Turn[]): void {
  if (!isObject(body.thinking) || body.thinking.type !== 'enabled') return
  const last = turns.findLastIndex(turn => turn.role === 'assistant')
  const first = turns[last]?.blocks[0]
  const inLoop = turns.slice(last + 1).some(turn => turn.blocks.some(block => block.type === 'tool_result'))
  if (!inLoop || first === undefined || ['thinking', 'redacted_thinking'].includes(String(first.type))) return
  throw invalid(
    `messages.${last}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  )
}

function checkPrefill(turns: readonly Turn[], facts: ModelFacts): void {
  const last = turns.at(-1)!
  if (last.role !== 'assistant') return
  if (facts.refuses?.includes('prefill')) {
    throw invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  }
  const text = last.text ?? String(listOf([...last.blocks]).findLast(isObject)?.text ?? '')
  if (/\s$/.test(text)) throw invalid('messages: final assistant content cannot end with trailing whitespace')
}
