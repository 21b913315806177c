/** Turns costs, discounts and exchange rates (in the YAML, a single value or a list) into lists with decimal strings. */

import type { UpstreamCost, UpstreamCostTier, UpstreamDiscount, UpstreamFx } from '../src/generated/types.ts'
import type { CostFacts, CostTierFacts, DiscountFacts, FxFacts } from './generated/types.ts'

type History<Step> = Step | readonly Step[] | undefined

export function stepsOf<Step>(history: History<Step>): readonly Step[] {
  if (history === undefined) return []
  return Array.isArray(history) ? (history as readonly Step[]) : [history as Step]
}

/** The number as decimal text: as in the YAML except for trailing zeros, because parsing rejects other notations. */
export function decimalText(value: number): string {
  return String(value)
}

export function resolveCost(history: History<CostFacts>): UpstreamCost[] {
  return stepsOf(history).map(({ from, input, cached, cache_write: cacheWrite, output, image, call, tiers }) => ({
    from,
    ...(input !== undefined && { input: decimalText(input) }),
    ...(cached !== undefined && { cached: decimalText(cached) }),
    ...(cacheWrite !== undefined && { cacheWrite: decimalText(cacheWrite) }),
    ...(output !== undefined && { output: decimalText(output) }),
    ...(image !== undefined && { image: decimalText(image) }),
    ...(call !== undefined && { call: decimalText(call) }),
    ...(tiers !== undefined && { tiers: tiers.map(resolveTier) }),
  }))
}

function resolveTier(tier: CostTierFacts): UpstreamCostTier {
  return {
    aboveTokens: tier.above_tokens,
    input: decimalText(tier.input),
    cached: decimalText(tier.cached ?? tier.input),
    cacheWrite: decimalText(tier.cache_write ?? tier.input),
    output: decimalText(tier.output),
  }
}

export function resolveDiscount(history: History<DiscountFacts>): UpstreamDiscount[] {
  return stepsOf(history).map(({ from, share }) => ({ from, share: decimalText(share) }))
}

export function resolveFx(history: History<FxFacts>): UpstreamFx[] {
  return stepsOf(history).map(({ from, vnd_per_usd: vndPerUsd }) => ({ from, vndPerUsd: decimalText(vndPerUsd) }))
}
