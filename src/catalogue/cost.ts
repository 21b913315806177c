/**
 * What a call costs the operator: the upstream's USD prices for tokens, images and the call itself, times the share left after
 * the discount, times the exchange rate. Integer arithmetic only. Customers' prices do not depend on it.
 */

import type { Tables, Upstream, UpstreamCost, UpstreamTarget } from '../generated/types.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'

/** A call's usage at its upstream, in whole numbers. */
export interface CostUnits {
  /** All input tokens, including cache reads and cache writes. */
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly images: number
}

/** Prices of an upstream target at a point in time, in 10⁻¹² µVND per token, image and call. */
export interface CostRates {
  /** Null if the upstream does not charge by the token. */
  readonly tokens: TokenRates | null
  /** Prices for calls with more than `aboveTokens` input tokens, in ascending order; the last that applies replaces `tokens`. */
  readonly tiers: readonly (TokenRates & { readonly aboveTokens: number })[]
  /** Price of one image; null if images cost nothing beyond their tokens. */
  readonly image: bigint | null
  /** Price of one call; null if calls cost nothing beyond their tokens. */
  readonly call: bigint | null
}

interface TokenRates {
  readonly input: bigint
  readonly cached: bigint
  readonly cacheWrite: bigint
  readonly output: bigint
}

/** Decimals allowed in each factor of a cost. The schema's descriptions repeat these numbers. */
export const USD_DECIMALS = 6
export const SHARE_DECIMALS = 4
export const FX_DECIMALS = 2
/** Number of 10⁻¹² µVND, the unit of `CostRates`, in one µVND. */
const SCALE = 10n ** BigInt(USD_DECIMALS + SHARE_DECIMALS + FX_DECIMALS)
/** Token prices are in USD per million tokens, image and call prices in USD. This factor scales the latter to match. */
const PER_UNIT = 1_000_000n

/**
 * Parses a decimal such as `0.25` into an integer, scaled by ten to the power of `decimals`. Throws RangeError for any other
 * text.
 */
export function parseDecimal(text: string, decimals: number): bigint {
  const match = /^(\d{1,9})(?:\.(\d+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  if (match === null || fraction.length > decimals)
    throw new RangeError(`${text} is not a decimal with at most ${decimals} places`)
  return BigInt((match[1] as string) + fraction.padEnd(decimals, '0'))
}

/** The token prices that apply to a call with this much input. */
export function tokenRatesFor({ tokens, tiers }: CostRates, inputTokens: number): TokenRates | null {
  return tiers.findLast(tier => inputTokens > tier.aboveTokens) ?? tokens
}

/** Returns the cost of a call, rounded half up once at the end. */
export function costAt(rates: CostRates, used: CostUnits): MicroVnd {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, images } = used
  const tokens = tokenRatesFor(rates, inputTokens)
  let sum = (rates.call ?? 0n) + (rates.image ?? 0n) * BigInt(images)
  if (tokens !== null) {
    const uncached = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
    sum +=
      tokens.input * BigInt(uncached) +
      tokens.cached * BigInt(cachedInputTokens) +
      tokens.cacheWrite * BigInt(cacheWriteTokens) +
      tokens.output * BigInt(outputTokens)
  }
  return microVnd((sum + SCALE / 2n) / SCALE)
}

/**
 * Returns the cost of a call. Null if the upstream did not report the usage that it charges for: tokens if they have a price,
 * otherwise images.
 */
export function costIfReported(rates: CostRates, used: CostUnits): MicroVnd | null {
  const isReported =
    rates.tokens === null ? rates.image === null || used.images > 0 : used.inputTokens + used.outputTokens > 0
  return isReported ? costAt(rates, used) : null
}

interface CostPeriod {
  readonly fromMs: number
  /** Null if the price or the exchange rate of this period is unknown. */
  readonly rates: CostRates | null
}

/** A target's prices over time. */
export class TargetCost {
  /** Newest first. */
  readonly #periods: readonly CostPeriod[]

  constructor(cost: readonly UpstreamCost[], upstream: Pick<Upstream, 'discount' | 'fx'>, fx: Upstream['fx']) {
    const rate = upstream.fx.length > 0 ? upstream.fx : fx
    const days = new Set([...cost, ...upstream.discount, ...rate].map(({ from }) => from))
    this.#periods = [...days]
      .sort()
      .reverse()
      .map(day => {
        const price = inForce(cost, day)
        const { share } = inForce(upstream.discount, day) ?? WHOLE_SHARE
        const exchange = inForce(rate, day)
        const known = price !== undefined && exchange !== undefined
        const rates = known ? ratesOf(price, factorOf(share, exchange.vndPerUsd)) : null
        return { fromMs: Date.parse(`${day}T00:00:00Z`), rates }
      })
  }

  /** Prices at a time given in milliseconds since 1970; null if unknown. */
  ratesAt(atMs: number): CostRates | null {
    return this.#periods.find(period => period.fromMs <= atMs)?.rates ?? null
  }
}

const WHOLE_SHARE = { share: '1' }

/** Returns the price, discount or exchange rate in force on a day: the last one that begins on or before that day. */
function inForce<Dated extends { readonly from: string }>(history: readonly Dated[], day: string): Dated | undefined {
  return history.findLast(({ from }) => from <= day)
}

function factorOf(share: string, vndPerUsd: string): bigint {
  return parseDecimal(share, SHARE_DECIMALS) * parseDecimal(vndPerUsd, FX_DECIMALS)
}

function ratesOf(price: UpstreamCost, factor: bigint): CostRates {
  const usd = (text: string) => parseDecimal(text, USD_DECIMALS) * factor
  const { input, output, cached = input, cacheWrite = input } = price
  const tokenRates = (of: Pick<Required<UpstreamCost>, 'input' | 'cached' | 'cacheWrite' | 'output'>): TokenRates => ({
    input: usd(of.input),
    cached: usd(of.cached),
    cacheWrite: usd(of.cacheWrite),
    output: usd(of.output),
  })
  const isByTokens = input !== undefined && output !== undefined && cached !== undefined && cacheWrite !== undefined
  return {
    tokens: isByTokens ? tokenRates({ input, cached, cacheWrite, output }) : null,
    tiers: (price.tiers ?? []).map(tier => ({ aboveTokens: tier.aboveTokens, ...tokenRates(tier) })),
    image: price.image === undefined ? null : usd(price.image) * PER_UNIT,
    call: price.call === undefined ? null : usd(price.call) * PER_UNIT,
  }
}

/** Returns the price history of each upstream target that has a cost. */
export function targetCosts(tables: Tables): ReadonlyMap<UpstreamTarget, TargetCost> {
  const { settings } = tables
  const upstreams = new Map(tables.upstreams.map(upstream => [upstream.id, upstream]))
  const costs = new Map<UpstreamTarget, TargetCost>()
  for (const target of tables.entries.flatMap(entry => entry.upstreams)) {
    const upstream = upstreams.get(target.via)
    if (upstream !== undefined && target.cost.length > 0)
      costs.set(target, new TargetCost(target.cost, upstream, settings.fx))
  }
  return costs
}
