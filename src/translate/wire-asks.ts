/** Finds features of a client's request that some wire formats cannot carry. */

import { isHttpUrl } from '../conversation/images.ts'
import type { WireLimit, WireName } from '../generated/types.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../lib/json.ts'

export interface WireAsks {
  /** All wire limits that the request would hit, except `effort_beside_tools`, which also depends on the model. */
  readonly limits: ReadonlySet<WireLimit>
  /** Whether the request has functions that the client runs. */
  readonly hasFunctions: boolean
  /** Whether the client asks for reasoning (at whatever effort) or turns it off; null if it does neither. */
  readonly wantsReasoning: boolean | null
}

export function asksOf(format: WireName, body: JsonObject): WireAsks {
  switch (format) {
    case 'messages':
      return messagesAsks(body)
    case 'chat_completions':
      return chatAsks(body)
    case 'responses':
      return responsesAsks(body)
  }
}

function messagesAsks(body: JsonObject): WireAsks {
  const { stop_sequences, top_k, tools, messages } = body
  const thinking = objectOrNull(body.thinking)?.type
  const level = objectOrNull(body.output_config)?.effort
  const wantsReasoning =
    thinking === 'disabled' ? false : typeof thinking === 'string' || typeof level === 'string' || null
  return {
    limits: limitsOf({
      stop_sequences: arrayOrEmpty(stop_sequences).length > 0,
      top_k: isGiven(top_k),
      sealed_reasoning: (wantsReasoning && typeof thinking === 'string') || contentsOf(messages).some(isSealedBlock),
      document_urls: contentsOf(messages).some(isDocumentUrl),
    }),
    hasFunctions: arrayOrEmpty(tools).some(tool => isObject(tool) && (tool.type ?? 'custom') === 'custom'),
    wantsReasoning,
  }
}

function chatAsks(body: JsonObject): WireAsks {
  const { stop, n, top_k, frequency_penalty, presence_penalty, logit_bias, logprobs, seed, tools, messages } = body
  return {
    limits: limitsOf({
      stop_sequences: typeof stop === 'string' ? stop !== '' : arrayOrEmpty(stop).length > 0,
      choices: typeof n === 'number' && n > 1,
      top_k: isGiven(top_k),
      penalties: [frequency_penalty, presence_penalty].some(penalty => isGiven(penalty) && penalty !== 0),
      logit_bias: Object.keys(objectOrNull(logit_bias) ?? {}).length > 0,
      logprobs: logprobs === true,
      seed: isGiven(seed),
      sealed_reasoning: arrayOrEmpty(messages).some(message => isObject(message) && hasSealedDetails(message)),
      document_urls: contentsOf(messages).some(isFileByUrl),
    }),
    hasFunctions: arrayOrEmpty(tools).some(tool => isObject(tool) && (tool.type ?? 'function') === 'function'),
    wantsReasoning: asksForReasoning(body.reasoning_effort ?? objectOrNull(body.reasoning)?.effort),
  }
}

function responsesAsks({ input, include, tools, reasoning, store, previous_response_id }: JsonObject): WireAsks {
  const wantsSeals = arrayOrEmpty(include).includes('reasoning.encrypted_content')
  const items = arrayOrEmpty(input)
  return {
    limits: limitsOf({
      sealed_reasoning: wantsSeals || items.some(isSealedItem),
      // The format stores responses by default, so its clients may later refer to earlier items by id.
      stored_items: store !== false || isGiven(previous_response_id) || items.some(isReference),
      document_urls: items.some(holdsFileUrl),
    }),
    hasFunctions: arrayOrEmpty(tools).some(tool => isObject(tool) && CLIENT_TOOLS.has(tool.type)),
    wantsReasoning: asksForReasoning(objectOrNull(reasoning)?.effort),
  }
}

const CLIENT_TOOLS: ReadonlySet<JsonValue | undefined> = new Set(['function', 'custom', 'namespace'])

function limitsOf(asked: Partial<Record<WireLimit, boolean | null>>): ReadonlySet<WireLimit> {
  const limits = new Set<WireLimit>()
  for (const limit in asked) if (asked[limit as WireLimit]) limits.add(limit as WireLimit)
  return limits
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null
}

function asksForReasoning(effort: JsonValue | undefined): boolean | null {
  return typeof effort === 'string' ? effort !== 'none' : null
}

function contentsOf(messages: JsonValue | undefined): JsonValue[] {
  return arrayOrEmpty(messages).flatMap(message => arrayOrEmpty(objectOrNull(message)?.content))
}

function isSealedBlock(block: JsonValue): boolean {
  if (!isObject(block)) return false
  if (block.type === 'redacted_thinking') return true
  return block.type === 'thinking' && typeof block.signature === 'string' && block.signature !== ''
}

/** Whether a block is a document by URL, or the result of a tool that has one. */
function isDocumentUrl(block: JsonValue): boolean {
  if (!isObject(block)) return false
  if (block.type === 'tool_result') return arrayOrEmpty(block.content).some(isDocumentUrl)
  return block.type === 'document' && objectOrNull(block.source)?.type === 'url'
}

/** Whether a part of a chat message is a file whose data is a URL, as some clients send documents. */
function isFileByUrl(part: JsonValue): boolean {
  return isObject(part) && part.type === 'file' && isHttpUrl(textOrNull(objectOrNull(part.file)?.file_data) ?? '')
}

function holdsFileUrl(item: JsonValue): boolean {
  const parts = isObject(item) ? [...arrayOrEmpty(item.content), ...arrayOrEmpty(item.output)] : []
  return parts.some(part => isObject(part) && part.type === 'input_file' && isGiven(part.file_url))
}

function hasSealedDetails({ reasoning_details: details }: JsonObject): boolean {
  return arrayOrEmpty(details).some(detail => isObject(detail) && detail.type === 'reasoning.encrypted')
}

/** Whether an item only refers to another item by its id. */
function isReference(item: JsonValue): boolean {
  return isObject(item) && (item.type === 'item_reference' || (item.type === undefined && item.role === undefined))
}

function isSealedItem(item: JsonValue): boolean {
  return isObject(item) && item.type === 'reasoning' && typeof item.encrypted_content === 'string'
}
