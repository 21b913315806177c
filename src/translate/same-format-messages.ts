/** Edits of a messages request for a messages upstream. */

import { isEffortLevel, nearestLevel } from '../conversation/reasoning-request.ts'
import type { ReasoningRequest } from '../conversation/request.ts'
import { readReasoning as readMessagesReasoning } from '../formats/messages/read-reasoning.ts'
import { refuseThread } from '../formats/messages/threads.ts'
import {
  arrayOrEmpty,
  isObject,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectOrNull,
  textOrNull,
} from '../lib/json.ts'
import type { BodyEdit } from './body-edit.ts'
import type { Dialect } from './dialect.ts'
import { onlyName } from './forced-choice.ts'
import { clampOutputTokens } from './output-cap.ts'
import { BUDGET_TOKENS_MIN, canSwitchOff, planMessagesReasoning } from './reasoning-plan.ts'
import { withStructureEdits } from './same-format-structure.ts'

export interface SameFormatFacts {
  readonly dialect: Dialect
  readonly outputTokensMax: number | null
  /** Cap on the output for a body that has none; null: it stays without one. */
  readonly outputTokensAfforded: number | null
}

export function messagesEdits(body: JsonObject, { dialect, outputTokensMax }: SameFormatFacts): BodyEdit[] {
  if (!dialect.turns.threads) refuseThread(body)
  const wanted = numberOrNull(body.max_tokens)
  const maxTokens =
    wanted === null || wanted < 1
      ? wanted
      : clampOutputTokens(wanted, { outputTokensMax, capMin: dialect.output.capMin })
  const wish = readMessagesReasoning(body)
  const reasoning = reasoningEdits(body, wish, { dialect, maxTokens: maxTokens ?? 0 })
  return withStructureEdits(body, dialect, [
    ...(maxTokens !== wanted ? [set('/max_tokens', maxTokens)] : []),
    ...samplingEdits(body, dialect),
    ...reasoning,
    ...(reasoning.some(({ path }) => path === '/thinking') ? [] : budgetEdits(body, { wanted, maxTokens })),
    ...toolEdits(body, dialect, reasoning),
    ...(dialect.turns.midSystem === 'keep' ? [] : systemEdits(body)),
    ...unsignedThinkingEdits(body),
    ...(dialect.endUser.field === null && body.metadata !== undefined ? [remove('/metadata')] : []),
  ])
}

function samplingEdits(body: JsonObject, { sampling: { parameters, topK } }: Dialect): BodyEdit[] {
  const fields = parameters === null ? ['temperature', 'top_p', 'top_k'] : []
  if (parameters === 'temperature_xor_top_p' && isSet(body.temperature)) fields.push('top_p')
  if (parameters !== null && !topK) fields.push('top_k')
  return fields.filter(field => isSet(body[field])).map(field => remove(`/${field}`))
}

interface ReasoningSituation {
  readonly dialect: Dialect
  readonly maxTokens: number
}

function reasoningEdits(
  body: JsonObject,
  wish: ReasoningRequest,
  { dialect, maxTokens }: ReasoningSituation,
): BodyEdit[] {
  const { reasoning } = dialect
  const thinking = objectOrNull(body.thinking)
  const effort = objectOrNull(body.output_config)?.effort
  const edits: BodyEdit[] = []
  let planned: JsonObject = {}
  if (thinking !== null && !takesThinking(thinking, dialect)) {
    const unsignedToolTurn = endsInUnsignedToolTurn(body)
    planned = planMessagesReasoning(wish, reasoning, { maxTokens, unsignedToolTurn }).fields
    edits.push(thinkingEdit(thinking, objectOrNull(planned.thinking)))
  }
  const plannedEffort = textOrNull(objectOrNull(planned.output_config)?.effort)
  const level = effortFor(effort, plannedEffort, { dialect, off: thinking?.type === 'disabled' })
  if (level !== (effort ?? null)) edits.push(...effortEdits(body, level))
  return edits
}

/** The planned switch, with the client's own wish for what is shown of the reasoning. */
function thinkingEdit(given: JsonObject, planned: JsonObject | null): BodyEdit {
  if (planned === null) return remove('/thinking')
  const keepsDisplay = planned.type === 'adaptive' && given.display !== undefined
  return set('/thinking', keepsDisplay ? { ...planned, display: given.display } : planned)
}

/** A budget that the client's cap allowed stays below the cap that is sent. */
function budgetEdits(
  { thinking }: JsonObject,
  { wanted, maxTokens }: { readonly wanted: number | null; readonly maxTokens: number | null },
): BodyEdit[] {
  const budget = numberOrNull(objectOrNull(thinking)?.budget_tokens)
  if (budget === null || wanted === null || maxTokens === null || budget >= wanted || budget < maxTokens) return []
  return [set('/thinking/budget_tokens', Math.max(BUDGET_TOKENS_MIN, Math.floor(maxTokens / 2)))]
}

/** Whether the model takes `thinking` as the client wrote it. */
function takesThinking(thinking: JsonObject, { reasoning }: Dialect): boolean {
  const { parameter } = reasoning
  switch (thinking.type) {
    case 'disabled':
      return parameter === 'budget' || (parameter === 'adaptive' && reasoning.disable !== 'refused')
    case 'enabled':
      return parameter === 'budget' || (parameter === 'adaptive' && reasoning.budgetAccepted)
    case 'adaptive':
      return parameter === 'adaptive'
    default:
      // Kinds that came later are the upstream's to judge.
      return parameter !== null
  }
}

/** The effort that goes up: the client's own where the model has it, the planned one where the client gave none. */
function effortFor(
  effort: JsonValue | undefined,
  planned: string | null,
  { dialect, off }: { readonly dialect: Dialect; readonly off: boolean },
): JsonValue {
  const { levels } = dialect.reasoning
  if (effort === null || effort === undefined) return planned
  if (levels === null) return null
  if (off && dialect.reasoning.disable === 'refused') return nearestLevel('none', levels)
  if (!isEffortLevel(effort)) return effort
  const level = nearestLevel(effort, levels)
  const tooHigh = off && dialect.reasoning.disable === 'up_to_high' && (level === 'xhigh' || level === 'max')
  return tooHigh ? nearestLevel('high', levels) : level
}

function effortEdits(body: JsonObject, level: JsonValue): BodyEdit[] {
  const config = objectOrNull(body.output_config)
  if (config === null) return level === null ? [] : [set('/output_config', { effort: level })]
  if (level !== null) return [set('/output_config/effort', level)]
  return Object.keys(config).length === 1 ? [remove('/output_config')] : [remove('/output_config/effort')]
}

/** The last assistant turn called tools without signed thinking before: thinking cannot be switched on behind it. */
function endsInUnsignedToolTurn(body: JsonObject): boolean {
  const messages = arrayOrEmpty(body.messages).filter(isObject)
  const blocks = arrayOrEmpty(messages.findLast(message => message.role === 'assistant')?.content).filter(isObject)
  const hasThinking = blocks.some(block => block.type === 'thinking' || block.type === 'redacted_thinking')
  return (!hasThinking || blocks.some(isUnsignedThinking)) && blocks.some(block => block.type === 'tool_use')
}

function toolEdits(body: JsonObject, dialect: Dialect, reasoning: readonly BodyEdit[]): BodyEdit[] {
  const edits: BodyEdit[] = arrayOrEmpty(body.tools).flatMap((tool, index) =>
    dialect.tools.strict === 'drop' && isObject(tool) && tool.strict !== undefined
      ? [remove(`/tools/${index}/strict`)]
      : [],
  )
  const choice = objectOrNull(body.tool_choice)
  if (choice === null) return edits
  if (choice.type === 'any' && dialect.tools.forced === 'named_only') {
    const name = onlyName(arrayOrEmpty(body.tools).map(tool => objectOrNull(tool)?.name))
    const named = parallelChoice(choice, dialect)
    return [...edits, set('/tool_choice', name === null ? named : { ...named, type: 'tool', name })]
  }
  if (choice.type === 'any' || choice.type === 'tool') {
    const thinks = ['enabled', 'adaptive'].some(type => objectOrNull(body.thinking)?.type === type)
    if (dialect.tools.forced === 'refused' || (dialect.tools.forced === 'not_with_thinking' && thinks)) {
      const gives = dialect.tools.forced === 'not_with_thinking' && canSwitchOff(dialect.reasoning)
      const untouched = !reasoning.some(edit => edit.path === '/thinking')
      if (gives && untouched) edits.push(set('/thinking', { type: 'disabled' }))
      if (!gives) return [...edits, set('/tool_choice', parallelChoice(choice, dialect))]
    }
  }
  if (!dialect.tools.parallelFlag && choice.disable_parallel_tool_use !== undefined) {
    edits.push(remove('/tool_choice/disable_parallel_tool_use'))
  }
  return edits
}

function parallelChoice(choice: JsonObject, { tools }: Dialect): JsonObject {
  const flag = choice.disable_parallel_tool_use
  return { type: 'auto', ...(tools.parallelFlag && flag !== undefined && { disable_parallel_tool_use: flag }) }
}

/** System messages among the turns become user turns for models that do not know them. */
function systemEdits(body: JsonObject): BodyEdit[] {
  return arrayOrEmpty(body.messages).flatMap((message, index) => {
    if (!isObject(message) || message.role !== 'system') return []
    const place = `/messages/${index}`
    const role = set(`${place}/role`, 'user')
    return message.output_config === undefined ? [role] : [role, remove(`${place}/output_config`)]
  })
}

/**
 * Thinking of a model of another vendor, from earlier in the conversation, has no signature: an upstream that signs its own
 * refuses the whole request for it.
 */
function unsignedThinkingEdits(body: JsonObject): BodyEdit[] {
  return arrayOrEmpty(body.messages).flatMap((message, index) => {
    if (!isObject(message) || !Array.isArray(message.content) || !message.content.some(isUnsignedThinking)) return []
    return [
      set(
        `/messages/${index}/content`,
        message.content.filter(block => !isUnsignedThinking(block)),
      ),
    ]
  })
}

function isUnsignedThinking(block: JsonValue): boolean {
  return isObject(block) && block.type === 'thinking' && textOrNull(block.signature) === null
}

export function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null
}

export function set(path: string, value: JsonValue): BodyEdit {
  return { op: 'set', path, value }
}

export function remove(path: string): BodyEdit {
  return { op: 'remove', path }
}
