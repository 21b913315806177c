/** Limits the cap on output tokens to what the model supports. */

/** Cap in tokens if neither the client nor the catalogue has one. */
const OUTPUT_TOKENS_FALLBACK = 8_192
/** Tokens left free in the context when the gateway chooses the cap, because its input count is an estimate. */
const CONTEXT_MARGIN_TOKENS = 2_000
/** The gateway never chooses a cap below this, in tokens. */
const CHOSEN_TOKENS_MIN = 1_024

export interface CapBounds {
  /** The model's limit; null: unknown. */
  readonly outputTokensMax: number | null
  /** The lowest cap that the upstream accepts; null: no minimum. */
  readonly capMin: number | null
}

/** The client's own cap, at least 1 or the upstream's minimum, and at most the model's limit. */
export function clampOutputTokens(wanted: number, { outputTokensMax, capMin }: CapBounds): number {
  return Math.max(capMin ?? 1, Math.min(Math.floor(wanted), outputTokensMax ?? Number.MAX_SAFE_INTEGER))
}

export interface OutputFacts {
  readonly outputTokensMax: number | null
  readonly contextTokens: number | null
  readonly inputTokensEstimate: number
}

/**
 * The cap for calls without one, where the format requires it. Normally the model's limit; less if input and output
 * would exceed the context, because upstreams would refuse a call whose client never asked for that much.
 */
export function chosenOutputTokens(facts: OutputFacts): number {
  const wanted = facts.outputTokensMax ?? OUTPUT_TOKENS_FALLBACK
  if (facts.contextTokens === null) return wanted
  const estimate = Math.ceil(facts.inputTokensEstimate * 1.1)
  const room = facts.contextTokens - estimate - CONTEXT_MARGIN_TOKENS
  return Math.min(wanted, Math.max(room, Math.min(CHOSEN_TOKENS_MIN, wanted)))
}
