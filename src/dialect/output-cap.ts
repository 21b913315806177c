/** Limits the output cap to what the model supports. */

/** Cap in tokens if neither the client nor the catalogue sets one. */
const OUTPUT_TOKENS_FALLBACK = 8_192
/** Tokens left free in the context when the gateway chooses the cap. Needed because the input count is an estimate. */
const CONTEXT_MARGIN_TOKENS = 2_000
/** Lowest cap that the gateway chooses, in tokens. */
const CHOSEN_TOKENS_MIN = 1_024

export interface CapBounds {
  /** The model's output limit in tokens; null: unknown. */
  readonly outputTokensMax: number | null
  /** The lowest cap that the upstream accepts, in tokens; null: no minimum. */
  readonly capMin: number | null
}

/** Returns the client's cap, raised to the upstream's minimum (at least 1) or lowered to the model's limit. */
export function clampOutputTokens(wanted: number, { outputTokensMax, capMin }: CapBounds): number {
  return Math.max(capMin ?? 1, Math.min(Math.floor(wanted), outputTokensMax ?? Number.MAX_SAFE_INTEGER))
}

export interface OutputFacts {
  readonly outputTokensMax: number | null
  readonly contextTokens: number | null
  readonly inputTokensEstimate: number
}

/**
 * Chooses the cap for a call that has none, in a format that requires one. Normally it is the model's limit. It is lower if
 * input and cap together would exceed the context, because the upstream would then refuse the call for a cap that the client
 * never set.
 */
export function chosenOutputTokens(facts: OutputFacts): number {
  const wanted = facts.outputTokensMax ?? OUTPUT_TOKENS_FALLBACK
  if (facts.contextTokens === null) return wanted
  const estimate = Math.ceil(facts.inputTokensEstimate * 1.1)
  const room = facts.contextTokens - estimate - CONTEXT_MARGIN_TOKENS
  return Math.min(wanted, Math.max(room, Math.min(CHOSEN_TOKENS_MIN, wanted)))
}
