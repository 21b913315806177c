/**
 * Finds the extras in a request, which are features that providers charge for beyond tokens, and decides what happens to each
 * at the target (the upstream and model chosen for the call).
 */

import { fits } from '../../conversation/patterns.ts'
import { refuse } from '../../conversation/refuse.ts'
import type {
  Endpoint,
  ExtraField,
  ExtraMatch,
  Extras,
  ExtrasVocabulary,
  ExtraTool,
  ExtraUse,
} from '../../generated/types.ts'
import {
  arrayOrEmpty,
  atPointer,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'
import { withoutCallers } from './callers.ts'
import { filteredChoice, forces } from './choice.ts'
import { refuseOtherCases, refuseOtherCasesIn, type Spellings, spellings } from './spelling.ts'

/** A change to one member of the body. `keep` keeps only the list elements at `indices`. */
export type MemberChange =
  | { readonly op: 'remove'; readonly member: string }
  | { readonly op: 'keep'; readonly member: string; readonly indices: readonly number[] }
  | { readonly op: 'set'; readonly member: string; readonly value: JsonValue }

/** A tool in the request that is charged per use. */
export interface SoldTool {
  readonly name: string
  /** Price per use in whole VND. */
  readonly vnd: number
  /** Number of uses that the call's hold covers. */
  readonly usesMax: number
  readonly uses: readonly ExtraUse[]
}

export interface ExtrasPlan {
  readonly changes: readonly MemberChange[]
  /** Names of the extras that are not sent upstream, in the order of the extras vocabulary. */
  readonly leftOut: readonly string[]
  readonly sold: readonly SoldTool[]
}

export interface ExtrasRequest {
  /** The client's body. */
  readonly body: JsonObject
  readonly endpoint: Endpoint
  readonly vocabulary: ExtrasVocabulary
  /** The target's settings for extras. */
  readonly extras: Extras
  /** Types of further tools to leave out because the target does not support them; null if there are none. */
  readonly leftOut?: readonly string[] | null
}

/** Maximum number of uses that a hold covers, even if the call allows more. */
const USES_MAX = 1000
/** Number of uses that a hold assumes if neither the call nor the catalogue sets a limit. */
const USES_ASSUMED = 5
const NOTHING: ExtrasPlan = { changes: [], leftOut: [], sold: [] }

/**
 * Decides what happens to each extra of a request. Throws GatewayError `invalid_request` for refused extras, and for tools that
 * cannot be left out.
 */
export function planExtras(request: ExtrasRequest): ExtrasPlan {
  refuseOtherCases(request.body, indexedVocabulary(request.vocabulary).spellings)
  const fields = planFields(request)
  const tools = planTools(request)
  if (fields.length === 0 && tools === NOTHING) return NOTHING
  return {
    changes: [...fields.map(member => ({ op: 'remove', member }) as const), ...tools.changes],
    leftOut: [...fields, ...tools.leftOut],
    sold: tools.sold,
  }
}

/** Returns the fields to leave out. Throws GatewayError `invalid_request` for fields that are refused. */
function planFields({ body, endpoint, vocabulary, extras }: ExtrasRequest): string[] {
  const leftOut: string[] = []
  for (const [name, { endpoints, otherwise }] of indexedVocabulary(vocabulary).fields) {
    const value = body[name]
    if (!isAskedFor(value) || !endpoints.includes(endpoint)) continue
    const given = extras.fields[name] ?? otherwise
    if (typeof given === 'object' && given.free.some(free => free === value)) continue
    const treatment = typeof given === 'object' ? otherwise : given
    if (treatment === 'allow') continue
    if (treatment === 'refuse') refuse(name, unavailable(given))
    leftOut.push(name)
  }
  return leftOut
}

/** What a 400 says about a field that is refused. */
function unavailable(treatment: Extras['fields'][string]): string {
  if (typeof treatment !== 'object') return 'not available with this model; leave the field out'
  return `this value is not available with this model; send ${treatment.free.join(' or ')}, or leave the field out`
}

/** Whether a value asks for anything, rather than meaning "not set" or "off". */
function isAskedFor(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
}

interface IndexedVocabulary {
  readonly fields: readonly (readonly [name: string, fact: ExtraField])[]
  readonly tools: readonly (readonly [name: string, fact: ExtraTool])[]
  /** Fields that enable a tool, or that are meaningless without one. */
  readonly toolFields: readonly string[]
  readonly spellings: Spellings
}

/** Each vocabulary is a constant of the generated tables, so it is indexed only once. */
const cache = new WeakMap<ExtrasVocabulary, IndexedVocabulary>()

function indexedVocabulary(vocabulary: ExtrasVocabulary): IndexedVocabulary {
  let indexed = cache.get(vocabulary)
  if (indexed === undefined) {
    const tools = Object.entries(vocabulary.tools)
    const toolFields = tools.flatMap(([, { fields = [], companions = [] }]) => [...fields, ...companions])
    const names = spellings([...Object.keys(vocabulary.fields), ...toolFields])
    indexed = { fields: Object.entries(vocabulary.fields), tools, toolFields, spellings: names }
    cache.set(vocabulary, indexed)
  }
  return indexed
}

function isFunction(tool: JsonValue): boolean {
  if (!isObject(tool)) return false
  const { type } = tool
  return type === undefined ? tool.input_schema !== undefined : type === 'function' || type === 'custom'
}

interface FoundTool {
  readonly name: string
  readonly fact: ExtraTool
  /** Indexes of the tool's definitions among all tools of the request. */
  readonly indices: readonly number[]
  /** Fields of the request that enable the tool. */
  readonly fields: readonly string[]
  /** Fields of the request that are meaningless without the tool. */
  readonly companions: readonly string[]
}

function planTools(request: ExtrasRequest): ExtrasPlan {
  const { body, vocabulary, extras } = request
  const known = findTools(body, vocabulary)
  const found = [...known, ...unsupportedTools(request, known)]
  if (found.length === 0) return NOTHING
  const sold: SoldTool[] = []
  const leftOut: FoundTool[] = []
  for (const tool of found) {
    const treatment = extras.tools[tool.name] ?? tool.fact.otherwise
    if (treatment === 'allow') continue
    if (typeof treatment === 'object') {
      if (tool.indices.length + tool.fields.length === 0) continue
      const usesMax = usesMaxOf(request, tool, treatment.uses_max ?? USES_ASSUMED)
      sold.push({ name: tool.name, vnd: treatment.price.vnd, usesMax, uses: tool.fact.uses ?? [] })
    } else if (treatment === 'refuse' && tool.indices.length + tool.fields.length > 0) refuseTool(request, tool)
    else leftOut.push(tool)
  }
  return { sold, leftOut: leftOut.map(tool => tool.name), changes: leaveOut(request, leftOut) }
}

/** Returns the vocabulary's tools that occur in the request, in the vocabulary's order. */
function findTools(body: JsonObject, vocabulary: ExtrasVocabulary): FoundTool[] {
  const indexed = indexedVocabulary(vocabulary)
  const given = [...arrayOrEmpty(body.tools), ...definedElsewhere(body)]
  for (const tool of given) refuseOtherCasesIn(tool)
  // Fast path: most calls only have functions.
  if (given.every(isFunction) && !indexed.toolFields.some(field => isAskedFor(body[field]))) return []
  return indexed.tools.flatMap(([name, fact]) => {
    const indices = given.flatMap((tool, index) => (looksLike(tool, fact.matches) ? [index] : []))
    const fields = (fact.fields ?? []).filter(field => isAskedFor(body[field]))
    const companions = (fact.companions ?? []).filter(field => isAskedFor(body[field]))
    return indices.length + fields.length + companions.length === 0 ? [] : [{ name, fact, indices, fields, companions }]
  })
}

/** Name shown for a tool whose type is not an identifier. */
const UNNAMED = 'tool'

/**
 * Returns tools that the target does not support and that are not among the `known` ones. Tools of one type share one element.
 */
function unsupportedTools({ body, leftOut = null }: ExtrasRequest, known: readonly FoundTool[]): FoundTool[] {
  if (leftOut === null) return []
  const knownIndices = new Set(known.flatMap(({ indices }) => indices))
  const matches = leftOut.map(type => ({ type }))
  const unsupported = [...arrayOrEmpty(body.tools).entries()].filter(
    ([index, tool]) =>
      !knownIndices.has(index) && !isFunction(tool) && leftOut.some(pattern => fits(typeOf(tool), pattern)),
  )
  const byName = Map.groupBy(unsupported, ([, tool]) => {
    const type = typeOf(tool)
    return /^\w{1,64}$/.test(type) ? type : UNNAMED
  })
  return [...byName].map(([name, tools]) => {
    const fact: ExtraTool = { otherwise: 'leave_out', matches: name === UNNAMED ? matches : [{ type: name }] }
    return { name, fact, indices: tools.map(([index]) => index), fields: [], companions: [] }
  })
}

function typeOf(tool: JsonValue): string {
  return textOrNull(objectOrNull(tool)?.type) ?? ''
}

/**
 * Returns the tools defined outside the `tools` list: in `tool_addition` blocks of messages, in `tools` of items (responses
 * format), and in namespaces.
 */
function definedElsewhere(body: JsonObject): JsonValue[] {
  const tools: JsonValue[] = []
  for (const message of arrayOrEmpty(body.messages)) {
    for (const block of arrayOrEmpty(objectOrNull(message)?.content)) {
      if (!isObject(block) || block.type !== 'tool_addition' || !isObject(block.tool)) continue
      tools.push(block.tool.definition ?? block.tool)
    }
  }
  for (const item of arrayOrEmpty(body.input)) if (isObject(item)) tools.push(...arrayOrEmpty(item.tools))
  for (const group of arrayOrEmpty(body.tools)) if (isObject(group)) tools.push(...arrayOrEmpty(group.tools))
  // Namespaces may be nested, so the list grows during the loop.
  for (const group of tools) if (isObject(group)) tools.push(...arrayOrEmpty(group.tools))
  return tools
}

export function looksLike(value: JsonValue | undefined, matches: readonly ExtraMatch[]): boolean {
  if (!isObject(value)) return false
  const type = textOrNull(value.type)
  // Google's tools have no type: `{"google_search": {}}`.
  const names = type === null ? Object.keys(value) : [type]
  return matches.some(match => {
    const isType = names.some(name => fits(name, match.type))
    if (!isType || match.at === undefined) return isType
    const inner = atPointer(value, match.at)
    return typeof inner === 'string' && (match.values ?? []).includes(inner)
  })
}

/**
 * Returns how many uses of a tool the hold covers: the request's own limit (`max_tool_calls` or `max_uses`), or else `assumed`.
 * If a tool is defined several times, the limits are added up, because the model may use every definition.
 */
function usesMaxOf({ body, endpoint }: ExtrasRequest, { indices }: FoundTool, assumed: number): number {
  const tools = arrayOrEmpty(body.tools)
  if (endpoint === 'responses') return Math.min(limitOrNull(body.max_tool_calls) ?? assumed, USES_MAX)
  if (endpoint !== 'messages' || indices.length === 0) return Math.min(assumed, USES_MAX)
  const each = indices.map(index => limitOrNull(objectOrNull(tools[index])?.max_uses) ?? assumed)
  return Math.min(
    each.reduce((sum, uses) => sum + uses),
    USES_MAX,
  )
}

function limitOrNull(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null
}

function leaveOut(request: ExtrasRequest, leftOut: readonly FoundTool[]): MemberChange[] {
  const { body } = request
  const tools = arrayOrEmpty(body.tools)
  const gone = new Set(leftOut.flatMap(tool => tool.indices))
  const later = leftOut.find(tool => tool.indices.some(index => index >= tools.length))
  if (later !== undefined) refuseTool(request, later)
  const kept = [...tools.keys()].filter(index => !gone.has(index))
  const fields = leftOut.flatMap(tool => [...tool.fields, ...tool.companions])
  const changes: MemberChange[] = fields.map(member => ({ op: 'remove', member }))
  const wanted = leftOut.filter(tool => tool.indices.length + tool.fields.length > 0)
  const [first] = wanted
  if (first === undefined) return changes
  const choice = body.tool_choice
  const isOff = choice === 'none' || objectOrNull(choice)?.type === 'none'
  const isAlone = kept.length + arrayOrEmpty(body.functions).length === 0
  if (isAlone && !isOff) refuseTool(request, first)
  const isGone = isLeftOut(wanted, tools)
  const forced = wanted.find(tool => forces(choice, isLeftOut([tool], tools)))
  if (forced !== undefined) refuseTool(request, forced)
  if (gone.size === 0) return changes
  if (kept.length === 0) return [...changes, { op: 'remove', member: 'tools' }, { op: 'remove', member: 'tool_choice' }]
  const freed = withoutCallers(
    kept.map(index => tools[index] as JsonValue),
    type => isGone({ type }),
  )
  if (freed === null) changes.push({ op: 'keep', member: 'tools', indices: kept })
  else changes.push({ op: 'set', member: 'tools', value: [...freed] })
  const filtered = filteredChoice(choice, isGone)
  if (filtered !== null) changes.push({ op: 'set', member: 'tool_choice', value: filtered })
  return changes
}

/** Returns a test of whether a tool or tool choice refers, by type or by name, to one of the tools that are left out. */
function isLeftOut(leftOut: readonly FoundTool[], tools: readonly JsonValue[]) {
  const names = new Set(leftOut.flatMap(({ indices }) => indices.map(index => nameOf(tools[index]))))
  return (value: JsonValue | undefined): boolean => {
    if (leftOut.some(({ fact }) => looksLike(value, fact.matches))) return true
    const name = nameOf(value)
    return name !== null && names.has(name)
  }
}

function nameOf(value: JsonValue | undefined): string | null {
  if (!isObject(value)) return null
  return textOrNull(objectOrNull(value.function)?.name ?? value.name)
}

/** Refuses a tool, in words that tell people and agents that they can continue without it. */
function refuseTool({ body, endpoint }: ExtrasRequest, { name, indices, fields }: FoundTool): never {
  const [index] = indices
  const isLater = index !== undefined && index >= arrayOrEmpty(body.tools).length
  const listed = endpoint === 'messages' ? `tools.${index}.type` : `tools[${index}].type`
  const place = index === undefined ? (fields[0] ?? 'tools') : isLater ? 'tools' : listed
  refuse(
    place,
    `${name} is run by the model's provider and not available with this model; leave the tool out and continue without it`,
  )
}
