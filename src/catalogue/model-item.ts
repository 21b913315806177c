/**
 * One entry as `GET /v1/models` shows it, in a shape that the OpenAI and Anthropic SDKs and price comparison tools understand.
 */

import type { ApiStandard, Capability, Dialect, ModelEntry, ToolTreatment } from '../generated/types.ts'
import { toolPrices } from './tool-prices.ts'

export type ModelItem = Readonly<Record<string, unknown>>

interface Lifecycle {
  readonly isDeprecated: boolean
  readonly isRetired: boolean
}

export function modelItem(entry: ModelEntry, lifecycle: Lifecycle): ModelItem {
  const releasedMs = entry.releasedOn === null ? 0 : Date.parse(`${entry.releasedOn}T00:00:00Z`)
  return {
    id: entry.id,
    object: 'model',
    type: 'model',
    created: releasedMs / 1000,
    created_at: timestamp(releasedMs),
    owned_by: entry.vendor,
    display_name: entry.name,
    name: entry.name,
    // Model pickers show the description but not the price, so the description begins with it.
    description: `${priceText(entry)}. ${entry.description ?? ''}`.trimEnd(),
    context_length: entry.contextTokens,
    max_input_tokens: entry.contextTokens,
    max_tokens: entry.outputTokensMax,
    top_provider: { context_length: entry.contextTokens, max_completion_tokens: entry.outputTokensMax },
    architecture: { input_modalities: inputModalities(entry), output_modalities: [OUTPUT_MODALITIES[entry.kind]] },
    capabilities: capabilities(entry),
    supported_parameters: supportedParameters(entry),
    channel: entry.channel,
    api_standard: entry.apiStandard,
    endpoints: entry.endpoints,
    aliases: entry.aliases,
    price: { currency: 'VND', unit: PRICE_UNITS[entry.price.per], amount: String(entry.price.vnd) },
    lifecycle: lifecycle.isRetired ? 'retired' : lifecycle.isDeprecated ? 'deprecated' : 'active',
    deprecated_at: lifecycle.isDeprecated ? dayOrNull(entry.deprecated?.sinceOn) : null,
    retires_at: dayOrNull(entry.deprecated?.retiresOn),
    successor: entry.deprecated?.successor ?? null,
    line: null,
  }
}

/** E.g. `2,400 VND per 1M tokens`, or `2,400 VND per 1M tokens, 500 VND per web_search`. */
function priceText(entry: ModelEntry): string {
  const unit = { mtok: '1M tokens', request: 'request', image: 'image' }[entry.price.per]
  const prices = [[entry.price.vnd, unit] as const, ...toolPrices(entry).map(({ tool, vnd }) => [vnd, tool] as const)]
  return prices.map(([vnd, what]) => `${vnd.toLocaleString('en-US')} VND per ${what}`).join(', ')
}

const PRICE_UNITS = { mtok: '1M_tokens', request: 'request', image: 'image' } as const
const OUTPUT_MODALITIES = { chat: 'text', image: 'image', speech: 'audio' } as const

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}

function dayOrNull(date: string | null | undefined): string | null {
  return date === null || date === undefined ? null : `${date}T00:00:00Z`
}

function inputModalities(entry: ModelEntry): string[] {
  const takesImages = entry.capabilities.includes('vision') || entry.endpoints.includes('images_edits')
  return takesImages ? ['text', 'image'] : ['text']
}

/** The dialect of the entry's preferred upstream model, assumed to hold for its other upstream models too. */
function dialectOf(entry: ModelEntry): Dialect | undefined {
  return entry.upstreams[0]?.dialect
}

function supported(isSupported: boolean): { supported: boolean } {
  return { supported: isSupported }
}

/** The catalogue's own capabilities, then the capabilities that the Anthropic SDK's types name, each as `{supported}`. */
function capabilities(entry: ModelEntry): Readonly<Record<string, unknown>> {
  const has = (capability: Capability) => entry.capabilities.includes(capability)
  const isChat = entry.kind === 'chat'
  const dialect = dialectOf(entry)
  const speaksMessages = entry.apiStandard === 'messages'
  const serverTools = serverToolsOf(entry)
  return {
    reasoning: supported(has('reasoning')),
    vision: supported(has('vision')),
    tools: supported(has('tools')),
    streaming: supported(has('streaming')),
    batch: supported(false),
    citations: supported(speaksMessages),
    code_execution: supported(serverTools.code_execution.supported),
    context_management: {
      supported: speaksMessages,
      clear_thinking_20251015: supported(speaksMessages),
      clear_tool_uses_20250919: supported(speaksMessages),
      compact_20260112: supported(false),
    },
    effort: effort(has('reasoning') ? dialect : undefined),
    image_input: supported(has('vision')),
    pdf_input: supported(isChat && dialect !== undefined && dialect.content.documents !== 'reject'),
    server_tools: serverTools,
    structured_outputs: supported(isChat && dialect !== undefined && takesSchemas(dialect)),
    thinking: thinking(has('reasoning'), dialect, entry.apiStandard),
  }
}

/** Provider-run tools that the catalogue allows, with their price per use if they have one. Tools run by the client are not listed. */
function serverToolsOf(entry: ModelEntry) {
  const { upstreams } = entry
  const sold = toolPrices(entry)
  const passes = (...words: readonly string[]) => {
    const open = words.filter(
      word => upstreams.length > 0 && upstreams.every(({ extras }) => isOpen(extras.tools[word])),
    )
    const prices = sold.filter(({ tool }) => open.includes(tool)).map(({ vnd }) => vnd)
    const price = { currency: 'VND', unit: 'use', amount: String(Math.max(...prices)) }
    return { ...supported(open.length > 0), ...(prices.length > 0 && { price }) }
  }
  const tools = {
    code_execution: passes('code_execution', 'code_interpreter', 'shell'),
    web_search: passes('web_search'),
    web_fetch: passes('web_fetch'),
    x_search: passes('x_search'),
    file_search: passes('file_search'),
    image_generation: passes('image_generation'),
    mcp: passes('mcp'),
    advisor: passes('advisor'),
  }
  return { supported: Object.values(tools).some(tool => tool.supported), ...tools }
}

function isOpen(treatment: ToolTreatment | undefined): boolean {
  return treatment === 'allow' || typeof treatment === 'object'
}

function takesSchemas(dialect: Dialect): boolean {
  return dialect.structuredOutput.method === 'native' || dialect.structuredOutput.method === 'json_schema'
}

/** The `reasoning_effort` levels that make a difference to the model; empty if requests cannot change how much it reasons. */
export function effortLevels(entry: ModelEntry): readonly string[] {
  const dialect = entry.capabilities.includes('reasoning') ? dialectOf(entry) : undefined
  return dialect?.reasoning.levels ?? []
}

function effort(dialect: Dialect | undefined): Readonly<Record<string, unknown>> {
  const levels: readonly string[] = dialect?.reasoning.levels ?? []
  return {
    supported: levels.length > 0,
    low: supported(levels.includes('low')),
    medium: supported(levels.includes('medium')),
    high: supported(levels.includes('high')),
    xhigh: supported(levels.includes('xhigh')),
    max: supported(levels.includes('max')),
  }
}

/** What a messages request may send under `thinking`. For chat models, the gateway converts token budgets to effort levels. */
function thinking(
  reasons: boolean,
  dialect: Dialect | undefined,
  standard: ApiStandard,
): Readonly<Record<string, unknown>> {
  const parameter = dialect?.reasoning.parameter ?? null
  const steers = reasons && parameter !== null
  const isConverted = standard !== 'messages'
  const takesBudget = parameter === 'budget' || (parameter === 'adaptive' && dialect?.reasoning.budgetAccepted === true)
  return {
    supported: reasons,
    types: {
      adaptive: supported(steers && (isConverted || parameter === 'adaptive')),
      between_tools: supported(false),
      disabled: supported(!reasons || dialect?.reasoning.disable !== 'refused'),
      enabled: supported(steers && (isConverted || takesBudget)),
    },
  }
}

/** Whether a request can change how much the model reasons, or turn reasoning off. */
function steersReasoning({ reasoning }: Dialect): boolean {
  return reasoning.parameter !== null && (reasoning.levels !== null || reasoning.disable !== 'refused')
}

/** Request fields that the entry supports, under the names that price comparison tools expect. */
export function supportedParameters(entry: ModelEntry): string[] {
  if (entry.kind === 'image') return ['n', 'prompt', 'size']
  if (entry.kind === 'speech') return ['input', 'instructions', 'response_format', 'speed', 'voice']
  const dialect = dialectOf(entry)
  const parameters = ['max_tokens']
  if (entry.capabilities.includes('streaming')) parameters.push('stream')
  if (entry.capabilities.includes('tools')) parameters.push('tools', 'tool_choice')
  if (dialect === undefined) return parameters.toSorted()
  if (entry.capabilities.includes('tools') && dialect.tools.parallelFlag) parameters.push('parallel_tool_calls')
  if (entry.capabilities.includes('reasoning') && steersReasoning(dialect)) {
    parameters.push('reasoning', 'reasoning_effort')
  }
  if (dialect.sampling.stopMax > 0) parameters.push('stop')
  if (dialect.sampling.parameters !== null)
    parameters.push('temperature', 'top_p', ...(dialect.sampling.topK ? ['top_k'] : []))
  if (dialect.structuredOutput.method !== 'prompt') parameters.push('response_format')
  if (takesSchemas(dialect)) parameters.push('structured_outputs')
  return parameters.toSorted()
}
