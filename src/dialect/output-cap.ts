/** The cap on output tokens, brought within what the model can do. */

/** Cap where neither the client nor the catalogue says one, in tokens. */
const OUTPUT_TOKENS_FALLBACK = 8_192
/** Tokens left free between input and output when the gateway chooses the cap: estimates are not exact. */
const CONTEXT_MARGIN_TOKENS = 2_000
/** A cap chosen by the gateway is never below this, in tokens. */
const CHOSEN_TOKENS_MIN = 1_024

export interface CapBounds {
  /** The model's limit; null: none is known. */
  readonly outputTokensMax: number | null
  /** The smallest cap that the upstream takes; null: no minimum. */
  readonly capMin: number | null
}

/** The client's own cap: at least 1, or what the upstream takes; at most the model's limit. */
export function clampOutputTokens(wanted: number, { outputTokensMax, capMin }: CapBounds): number {
  return Math.max(capMin ?? 1, Math.min(Math.floor(wanted), outputTokensMax ?? Number.MAX_SAFE_INTEGER))
}

export interface OutputFacts {
  readonly outputTokensMax: number | null
  readonly contextTokens: number | null
  readonly inputTokensEstimate: number
}

/**
 * The cap for a call that names none where the format demands one: the model's limit, less when the context would not
 * hold the input and that much output, because upstreams then refuse a call whose client never asked for it.
 */
export function chosenOutputTokens(facts: OutputFacts): number {
  const wanted = facts.outputTokensMax ?? OUTPUT_TOKENS_FALLBACK
  if (facts.contextTokens === null) return wanted
  const estimate = Math.ceil(facts.inputTokensEstimate * 1.1)
  const room = facts.contextTokens - estimate - CONTEXT_MARGIN_TOKENS
  return Math.min(wanted, Math.max(room, Math.min(CHOSEN_TOKENS_MIN, wanted)))
}
