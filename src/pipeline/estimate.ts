/** Estimates the likely cost of a call before its usage is known, which is how much money to hold for it. */

import { BUDGET_TOKENS_MIN } from '../dialect/reasoning-plan.ts'
import type { ModelEntry } from '../generated/types.ts'
import { type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../lib/json.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'
import type { ChatBody } from './receive.ts'

/** Bytes of text per input token, assumed when sizing a hold. */
const BYTES_PER_TOKEN = 3
/** Depth to which content is searched: enough for message → block → tool result → block → source. */
const DEPTH_MAX = 8

/** Base64 characters per input token of an inline document, assumed when sizing a hold. */
const DOCUMENT_CHARACTERS_PER_TOKEN = 30
const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image'])

const INLINE_KEYS: ReadonlySet<string> = new Set(['data', 'url', 'file_data', 'image_url'])
const NESTED_KEYS: ReadonlySet<string> = new Set(['content', 'output', 'source', 'image_url', 'file', 'input_audio'])

interface InputWeight {
  /** Bytes of inline media, which are not text. */
  mediaBytes: number
  /** The part of `mediaBytes` that belongs to documents. */
  documentBytes: number
  images: number
  hasReferences: boolean
}

export interface InputEstimate {
  readonly tokens: number
  /** Whether the body refers to content that the provider fetches or stores, whose size is not known until the reply. */
  readonly hasReferences: boolean
}

/** Fields that refer to content stored at the provider. */
const MEMORY_FIELDS = ['previous_response_id', 'conversation', 'prompt', 'thread'] as const
const REMOTE_SOURCES: ReadonlySet<unknown> = new Set(['url', 'file'])

/** Whether a part only refers to its content: a document, file or video elsewhere, or an item stored at the provider. */
function isReference(part: JsonObject): boolean {
  switch (part.type) {
    case 'document':
      return REMOTE_SOURCES.has(objectOrNull(part.source)?.type)
    case 'file': {
      const file = objectOrNull(part.file)
      return typeof file?.file_id === 'string' || isAddress(file?.file_data)
    }
    case 'input_file':
      return typeof part.file_id === 'string' || typeof part.file_url === 'string'
    case 'video_url':
      return isAddress(objectOrNull(part.video_url)?.url ?? part.video_url)
    case 'container_upload':
    case 'item_reference':
      return true
    default:
      return false
  }
}

function isAddress(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && !value.startsWith('data:') && value.includes('://')
}

/** Whether the value is base64 media rather than text. */
function isInlineMedia(container: JsonObject, key: string, value: string): boolean {
  return (
    value.startsWith('data:') || (key === 'data' && (container.type === 'base64' || container.format !== undefined))
  )
}

function weigh(value: JsonValue | undefined, weight: InputWeight, depth: number): void {
  if (value === undefined || value === null || typeof value !== 'object' || depth > DEPTH_MAX) return
  if (Array.isArray(value)) {
    for (const item of value) weigh(item, weight, depth + 1)
    return
  }
  if (IMAGE_TYPES.has(value.type)) weight.images++
  if (isReference(value)) weight.hasReferences = true
  // Go through the members that exist: looking up names, most of which are missing, takes three times as long.
  for (const key in value) {
    const member = value[key]
    if (typeof member === 'string') {
      if (INLINE_KEYS.has(key) && isInlineMedia(value, key, member)) weighInline(value, key, member.length, weight)
    } else if (NESTED_KEYS.has(key)) weigh(member, weight, depth + 1)
  }
}

function weighInline(container: JsonObject, key: string, bytes: number, weight: InputWeight): void {
  weight.mediaBytes += bytes
  if (key === 'file_data' || textOrNull(container.media_type)?.startsWith('application/')) weight.documentBytes += bytes
}

/**
 * Estimates the input tokens in a body, for the size of the call's hold but not for its bill. Images and documents are looked
 * for in `messages` (chat formats) and `input` (responses format).
 */
export function estimateInput(body: Pick<ChatBody, 'text' | 'outline'>, tokensPerImage: number): InputEstimate {
  // The outline is enough: it has placeholders only for plain values, which contain neither media nor references.
  const { text, outline: json } = body
  const hasReferences = MEMORY_FIELDS.some(field => json[field] !== undefined && json[field] !== null)
  const weight: InputWeight = { mediaBytes: 0, documentBytes: 0, images: 0, hasReferences }
  weigh(json.messages, weight, 0)
  weigh(json.input, weight, 0)
  const textBytes = Math.max(0, text.length - weight.mediaBytes)
  const documentTokens = Math.ceil(weight.documentBytes / DOCUMENT_CHARACTERS_PER_TOKEN)
  const tokens = Math.ceil(textBytes / BYTES_PER_TOKEN) + documentTokens + weight.images * tokensPerImage
  return { tokens, hasReferences: weight.hasReferences }
}

/** Maximum cost, in µVND, of content that the body only refers to: such content may fill the rest of the context window. */
export function referencedAmount(
  { price, contextTokens }: ModelEntry,
  { tokens, hasReferences }: InputEstimate,
): MicroVnd {
  if (!hasReferences || price.per !== 'mtok') return microVnd(0n)
  return microVnd(BigInt(Math.max(0, (contextTokens ?? 0) - tokens)) * BigInt(price.vnd))
}

/**
 * Money to set aside for a call, in µVND; always above 0. For a call priced by tokens, it covers the likely input and, for each
 * choice, as much output as the cap allows, but at most `holdOutputTokens` of the entry. For any other call, it is the fixed
 * price.
 */
export function holdAmount(
  entry: ModelEntry,
  inputTokens: number,
  outputTokensMax: number | null,
  choices = 1,
): MicroVnd {
  if (entry.price.per !== 'mtok') return vndToMicro(entry.price.vnd)
  const outputTokens = Math.min(outputTokensMax ?? entry.holdOutputTokens, entry.holdOutputTokens)
  const tokens = BigInt(Math.max(1, inputTokens)) + BigInt(outputTokens) * BigInt(choices)
  return microVnd(tokens * BigInt(entry.price.vnd))
}

export interface OutputCap {
  readonly inputTokens: number
  /** The client's output cap; null if it set none. */
  readonly outputTokensMax: number | null
  readonly choices: number
}

/** Maximum number of output tokens of a call with this cap, per choice. */
function outputTokensOf(entry: ModelEntry, { outputTokensMax }: OutputCap): number {
  const most = entry.outputTokensMax ?? entry.holdOutputTokens
  return Math.min(outputTokensMax ?? most, most)
}

/** The most that a call priced by tokens can cost, in µVND, given its likely input; never less than its `holdAmount`. */
export function capAmount(entry: ModelEntry, cap: OutputCap): MicroVnd {
  const { inputTokens, outputTokensMax, choices } = cap
  const least = holdAmount(entry, inputTokens, outputTokensMax, choices)
  const tokens = BigInt(inputTokens) + BigInt(outputTokensOf(entry, cap)) * BigInt(choices)
  const most = tokens * BigInt(entry.price.vnd)
  return most > least ? microVnd(most) : least
}

/**
 * Returns the output cap to send upstream, per choice: as many tokens as the wallet's free money pays for after the input. Null
 * if it pays for the longest possible reply, so that no cap is needed. If it pays for less than `outputTokensMin`, the cap is
 * the usual one: the entry's `holdOutputTokens`, but at least `outputTokensMin`.
 */
export function affordedOutputTokens(
  entry: ModelEntry,
  cap: OutputCap & { readonly freeMicroVnd: MicroVnd; readonly outputTokensMin: number },
): number | null {
  const tokens = Number(cap.freeMicroVnd / BigInt(entry.price.vnd)) - cap.inputTokens
  const afforded = Math.floor(tokens / cap.choices)
  // Too little for a useful reply, so send the usual cap. A call is admitted with so little money only if no other call of its
  // wallet, or of its key with a limit, holds any; settling charges at most the balance.
  const sent = afforded < cap.outputTokensMin ? Math.max(cap.outputTokensMin, entry.holdOutputTokens) : afforded
  return sent >= outputTokensOf(entry, cap) ? null : sent
}

/** Lowest output cap. A call with a thinking budget needs this many output tokens in addition to the budget. */
const OUTPUT_TOKENS_MIN = 16

/**
 * The lowest output cap for a chat call, in tokens. It is higher for a call with a thinking budget, because the budget has a
 * minimum too.
 */
export function lowestCap({ thinking }: JsonObject, entry: ModelEntry): number {
  const hasBudget = typeof objectOrNull(thinking)?.budget_tokens === 'number'
  const least = hasBudget ? BUDGET_TOKENS_MIN + OUTPUT_TOKENS_MIN : OUTPUT_TOKENS_MIN
  return Math.max(least, capMinOf(entry))
}

/** The client's output cap, raised to the highest minimum of the entry's upstreams, since the call may go to any of them. */
export function raisedCap(outputTokensMax: number | null, entry: ModelEntry): number | null {
  return outputTokensMax === null ? null : Math.max(outputTokensMax, capMinOf(entry))
}

function capMinOf({ upstreams }: ModelEntry): number {
  return Math.max(0, ...upstreams.map(({ dialect }) => dialect.output.capMin ?? 0))
}
