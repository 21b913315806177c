/** Reads and writes usage figures of the messages format, whose `input_tokens` exclude cached tokens. */

import { onlyProgramCalls, ProgramCalls } from '../../conversation/program-calls.ts'
import { firstCount, type TokenUsage, tokenCount, type UsageReport, usageReport } from '../../conversation/usage.ts'
import {
  arrayOrEmpty,
  isObject,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'

/**
 * Reads a `usage` object; null if it has no counts. For streams, pass the merged object (see `mergeUsage`). A reply can take
 * several iterations (passes of a model), which `usage.iterations` lists; all of them count, except declined ones.
 */
export function readUsage(usage: JsonValue | undefined): TokenUsage | null {
  const top = readCounts(usage)
  const { answer, hidden } = iterationsOf(usage)
  if (hidden.length === 0 && answer.length === 0) return top
  // Depending on the provider, the top-level counts are the sum of the answer's iterations or only the counts of the first.
  const made = sumOf(answer)
  const shown = top === null ? made : larger(top, made)
  return sumOf([shown, ...hidden])
}

/**
 * Splits `iterations` into iterations that wrote the answer and hidden ones, which the top-level counts leave out (compaction
 * of the conversation, or the advisor tool, which asks another model). If a fallback model wrote the answer
 * (`fallback_message`), the top-level counts are already right, and the models that declined are not billed, so `answer` is
 * empty. According to `BetaIterationsUsage` and `BetaFallbackMessageIterationUsage` in `@anthropic-ai/sdk` 1.10.0, as of
 * 2026-11.
 */
function iterationsOf(usage: JsonValue | undefined): {
  readonly answer: readonly TokenUsage[]
  readonly hidden: readonly TokenUsage[]
} {
  const all = arrayOrEmpty(objectOrNull(usage)?.iterations).filter(isObject)
  const isAnswer = ({ type }: JsonObject) => type === 'message' || type === 'fallback_message'
  const servedByFallback = all.some(({ type }) => type === 'fallback_message')
  const read = (some: readonly JsonObject[]) => some.map(readCounts).filter(counts => counts !== null)
  return {
    answer: servedByFallback ? [] : read(all.filter(isAnswer)),
    hidden: read(all.filter(iteration => !isAnswer(iteration))),
  }
}

function sumOf(parts: readonly TokenUsage[]): TokenUsage {
  return {
    inputTokens: parts.reduce((sum, part) => sum + part.inputTokens, 0),
    cachedInputTokens: parts.reduce((sum, part) => sum + part.cachedInputTokens, 0),
    cacheWriteTokens: parts.reduce((sum, part) => sum + part.cacheWriteTokens, 0),
    outputTokens: parts.reduce((sum, part) => sum + part.outputTokens, 0),
    reasoningTokens: parts.reduce((sum, part) => sum + part.reasoningTokens, 0),
  }
}

/** Takes the input counts from whichever usage has more input tokens, and the output count from whichever has more output. */
function larger(one: TokenUsage, other: TokenUsage): TokenUsage {
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = one.inputTokens >= other.inputTokens ? one : other
  const { outputTokens } = one.outputTokens >= other.outputTokens ? one : other
  const reasoningTokens = Math.max(one.reasoningTokens, other.reasoningTokens)
  return { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens }
}

/**
 * Reads the counts of a usage object or of one iteration. Some providers report cache writes only by cache lifetime
 * (`cache_creation`).
 */
function readCounts(usage: JsonValue | undefined): TokenUsage | null {
  if (!isObject(usage)) return null
  const uncached = firstCount(usage.input_tokens)
  const output = firstCount(usage.output_tokens)
  const cached = firstCount(usage.cache_read_input_tokens) ?? 0
  const lifetimes = objectOrNull(usage.cache_creation)
  const written =
    firstCount(usage.cache_creation_input_tokens) ??
    (firstCount(lifetimes?.ephemeral_5m_input_tokens) ?? 0) + (firstCount(lifetimes?.ephemeral_1h_input_tokens) ?? 0)
  if (uncached === null && output === null && cached === 0 && written === 0) return null
  const outputTokens = output ?? 0
  const reasoning = firstCount(objectOrNull(usage.output_tokens_details)?.thinking_tokens) ?? 0
  return {
    inputTokens: (uncached ?? 0) + cached + written,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
  }
}

/**
 * Merges a stream's usage objects: the first is in `message_start`, later ones in `message_delta`. Counts are cumulative, so
 * newer ones replace older ones. Nulls replace nothing, and neither does an `input_tokens` of 0 filled in by a relay.
 */
export function mergeUsage(older: JsonObject | null, newer: JsonValue | undefined): JsonObject | null {
  if (!isObject(newer)) return older
  if (older === null || newer === older) return newer
  const present = Object.entries(newer).filter(([, value]) => value !== null && value !== undefined)
  const merged: JsonObject = { ...older, ...Object.fromEntries(present) }
  const cached = tokenCount(newer.cache_read_input_tokens) + tokenCount(newer.cache_creation_input_tokens)
  const filledIn = newer.input_tokens === 0 && cached === 0 && older.input_tokens !== undefined
  return filledIn ? { ...merged, input_tokens: older.input_tokens } : merged
}

export function reportOf(reply: JsonObject): UsageReport {
  return usageReport(readUsage(reply.usage), { final: true, zeroIsTrue: onlyProgramCalls(arrayOrEmpty(reply.content)) })
}

/** Builds the usage report of a stream, event by event. */
export class StreamUsage {
  readonly #calls = new ProgramCalls()
  #merged: JsonObject | null = null
  /** Whether the latest usage in a `message_delta` had an output count. */
  #tellsOutput = false
  #stopped = false
  /** The latest report; null when out of date. It is cached because it is read often while a stream runs, to adjust the hold. */
  #report: UsageReport | null = null

  /** Call this with the data of each `message_start` event. */
  start(event: JsonObject): void {
    this.#report = null
    this.#merged = mergeUsage(this.#merged, objectOrNull(event.message)?.usage)
  }

  /** Call this with the data of each `content_block_start` event. */
  block(event: JsonObject): void {
    this.#report = null
    this.#calls.add(event.content_block)
  }

  /** Call this with the data of each `message_delta` event. */
  delta(event: JsonObject): void {
    this.#report = null
    if (textOrNull(objectOrNull(event.delta)?.stop_reason) !== null) this.#stopped = true
    const usage = objectOrNull(event.usage)
    if (usage === null) return
    this.#merged = mergeUsage(this.#merged, usage)
    this.#tellsOutput = numberOrNull(usage.output_tokens) !== null
  }

  /** Call this on `message_stop`. */
  stop(): void {
    this.#report = null
    this.#stopped = true
  }

  get report(): UsageReport {
    const usage = this.#merged ?? undefined
    this.#report ??= usageReport(readUsage(usage), {
      // The figures of `message_start` are only preliminary.
      final: this.#tellsOutput && this.#stopped,
      hiddenOutputTokens: sumOf(iterationsOf(usage).hidden).outputTokens,
      zeroIsTrue: this.#calls.only,
    })
    return this.#report
  }
}

/** Returns JSON pointers, within a `usage` object, to the model names of its iterations. */
export function modelPlaces(usage: JsonValue | undefined): string[] {
  return arrayOrEmpty(objectOrNull(usage)?.iterations).flatMap((iteration, index) =>
    textOrNull(objectOrNull(iteration)?.model) === null ? [] : [`/iterations/${index}/model`],
  )
}

export function writeUsage(usage: TokenUsage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    ...(usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  }
}
