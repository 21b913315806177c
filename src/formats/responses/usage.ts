/** Reads and writes usage figures of the responses format, whose `input_tokens` include cached tokens. */

import { onlyProgramCalls, ProgramCalls } from '../../conversation/program-calls.ts'
import {
  firstCount,
  type NamedCounts,
  NO_USAGE,
  namedCounts,
  type TokenUsage,
  tokenCount,
  type UsageFacts,
  type UsageReport,
  usageReport,
} from '../../conversation/usage.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'

/** Reads a `usage` object; null if it has no counts. */
export function readUsage(usage: JsonValue | undefined): TokenUsage | null {
  return isObject(usage) ? readCounts(usage, NOTHING_NAMED) : null
}

/** Reads the usage of a response; null if it has no counts. */
export function readResponseUsage(response: JsonObject, facts: UsageFacts): TokenUsage | null {
  return readCounts(objectOrNull(response.usage) ?? {}, namedCounts(response, facts))
}

const NOTHING_NAMED: NamedCounts = { input: null, output: null, cached: null, reasoning: null }

function readCounts(usage: JsonObject, named: NamedCounts): TokenUsage | null {
  const input = named.input ?? firstCount(usage.input_tokens)
  const output = named.output ?? firstCount(usage.output_tokens)
  const total = firstCount(usage.total_tokens)
  if (input === null && output === null && total === null) return null
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (output ?? 0))
  const outputTokens = output ?? Math.max(0, (total ?? 0) - inputTokens)
  const inputDetails = objectOrNull(usage.input_tokens_details)
  const cachedInputTokens = Math.min(named.cached ?? tokenCount(inputDetails?.cached_tokens), inputTokens)
  const reasoning = named.reasoning ?? tokenCount(objectOrNull(usage.output_tokens_details)?.reasoning_tokens)
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: Math.min(tokenCount(inputDetails?.cache_write_tokens), inputTokens - cachedInputTokens),
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
  }
}

/** Returns the usage report of a finished response. */
export function reportOf(response: JsonObject, facts: UsageFacts): UsageReport {
  const zeroIsTrue = onlyProgramCalls(arrayOrEmpty(response.output))
  return usageReport(readResponseUsage(response, facts), { final: true, zeroIsTrue })
}

/** Builds the usage report of a stream. */
export class StreamUsage {
  readonly #facts: UsageFacts
  readonly #calls = new ProgramCalls()
  report: UsageReport = NO_USAGE

  constructor(facts: UsageFacts) {
    this.#facts = facts
  }

  /** Records a finished output item. */
  item(item: JsonValue | undefined): void {
    this.#calls.add(item)
  }

  /** Reads the response in an event and returns its usage. `final`: whether the response has ended. */
  response(response: JsonObject, { final }: { final: boolean }): TokenUsage | null {
    // Some hosts omit the items in the last event.
    const output = arrayOrEmpty(response.output)
    const zeroIsTrue = output.length === 0 ? this.#calls.only : onlyProgramCalls(output)
    const usage = readResponseUsage(response, this.#facts)
    const report = usageReport(usage, { final, zeroIsTrue })
    if (report.state !== 'missing') this.report = report
    return usage
  }
}

export function writeUsage(usage: TokenUsage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  }
}
