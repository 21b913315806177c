/** Reads `system` and `messages` of a messages request as turns. */

import type { ReadFacts } from '../../conversation/format.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ClientErrors, ContentPart, Turn } from '../../conversation/request.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { readContent } from './read-content.ts'

/**
 * A note about the agent's own billing, which some agents put before the instructions. It means nothing to a model, and it
 * changes with every request, which would defeat the provider's cache.
 */
const BILLING_NOTE = /^x-[a-z]+-billing-header:/

/** Reads the conversation. Throws GatewayError `invalid_request` for content that cannot be converted. */
export function readTurns(body: JsonObject, facts: ReadFacts): Turn[] {
  if (!Array.isArray(body.messages)) refuse('messages', 'Input should be a valid list')
  if (body.messages.length === 0) refuse('messages', 'at least one message is required')
  const system = readSystem(body.system, 'system', facts)
  const turns = body.messages.map((message, index) => readMessage(message, `messages.${index}`, facts))
  return system.length === 0 ? turns : [{ role: 'system', parts: system, place: 'system' }, ...turns]
}

/** Refuses histories in the wording of the Messages API, by which agents recognize such errors and repair their history. */
export const messagesErrors: ClientErrors = {
  stopField: 'stop_sequences',
  allowsRepeatedResults: false,
  missing(turn, ids) {
    refuse(
      turn.place,
      `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. ` +
        'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    )
  },
  orphan(result) {
    refuse(
      result.place,
      `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${result.id}. ` +
        'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    )
  },
}

function readMessage(value: JsonValue, place: string, facts: ReadFacts): Turn {
  const message = objectOrNull(value) ?? refuse(place, 'Input should be a valid message')
  const content = message.content
  switch (message.role) {
    case 'user':
    case 'assistant':
      return { role: message.role, parts: readContent(content, `${place}.content`, facts), place }
    case 'system':
      return { role: 'system', parts: readSystem(content, `${place}.content`, facts), place }
    default:
      return refuse(`${place}.role`, "Input should be 'user' or 'assistant'")
  }
}

function readSystem(content: JsonValue | undefined, place: string, facts: ReadFacts): ContentPart[] {
  if (content === null || content === undefined) return []
  return readContent(content, place, facts).filter(
    part => part.kind === 'text' && part.text.trim() !== '' && !BILLING_NOTE.test(part.text),
  )
}

/** Tools added or removed in the middle of a conversation. */
export interface ToolChanges {
  readonly added: readonly JsonObject[]
  readonly removed: ReadonlySet<string>
}

export function readToolChanges(body: JsonObject): ToolChanges {
  const added: JsonObject[] = []
  const removed = new Set<string>()
  for (const message of Array.isArray(body.messages) ? body.messages : []) {
    const content = objectOrNull(message)?.content
    for (const block of Array.isArray(content) ? content.filter(isObject) : []) {
      const tool = objectOrNull(block.tool)
      if (tool === null) continue
      const definition = objectOrNull(tool.definition)
      const name = textOrNull(definition?.name ?? tool.name)
      if (name === null) continue
      if (block.type === 'tool_removal') removed.add(name)
      if (block.type !== 'tool_addition') continue
      removed.delete(name)
      if (definition !== null) added.push(definition)
    }
  }
  return { added, removed }
}
