/**
 * What a call costs the operator: tokens, images and the call itself at the upstream's USD prices, times the discounted
 * share, times the exchange rate. All in whole numbers; it never affects customers' prices.
 */

import type { Tables, Upstream, UpstreamCost, UpstreamTarget } from '../generated/types.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'

/** What a call used at its upstream; whole numbers. */
export interface CostUnits {
  /** All input: uncached, cache reads and cache writes. */
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly images: number
}

/** Prices of one target at one time, in 10⁻¹² µVND per token, image and call. */
export interface CostRates {
  /** Null: tokens are not priced. */
  readonly tokens: TokenRates | null
  /** Prices of calls with more input than `aboveTokens`, ascending. */
  readonly tiers: readonly (TokenRates & { readonly aboveTokens: number })[]
  /** Null: images cost nothing beyond their tokens. */
  readonly image: bigint | null
  /** Null: calls cost nothing beyond their tokens. */
  readonly call: bigint | null
}

interface TokenRates {
  readonly input: bigint
  readonly cached: bigint
  readonly cacheWrite: bigint
  readonly output: bigint
}

/** Decimals allowed in each factor; the schema's descriptions say the same. */
export const USD_DECIMALS = 6
export const SHARE_DECIMALS = 4
export const FX_DECIMALS = 2
/** One µVND in the unit of the rates. */
const SCALE = 10n ** BigInt(USD_DECIMALS + SHARE_DECIMALS + FX_DECIMALS)
/** A price in USD per 1M tokens counts millionths of a USD per token, just as µVND are millionths of a VND. */
const PER_UNIT = 1_000_000n

/** A decimal such as `0.25` as a whole number of its last place. Throws RangeError for anything else. */
export function parseDecimal(text: string, decimals: number): bigint {
  const match = /^(\d{1,9})(?:\.(\d+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  if (match === null || fraction.length > decimals)
    throw new RangeError(`${text} is not a decimal with at most ${decimals} places`)
  return BigInt((match[1] as string) + fraction.padEnd(decimals, '0'))
}

/** The token prices for a call with this much input. */
export function tokenRatesFor({ tokens, tiers }: CostRates, inputTokens: number): TokenRates | null {
  return tiers.findLast(tier => inputTokens > tier.aboveTokens) ?? tokens
}

/** The cost of a call, rounded once, half up. */
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

/** The cost of a call, or null when what it is priced by is missing: tokens that were reported, or images. */
export function costIfReported(rates: CostRates, used: CostUnits): MicroVnd | null {
  const isReported =
    rates.tokens === null ? rates.image === null || used.images > 0 : used.inputTokens + used.outputTokens > 0
  return isReported ? costAt(rates, used) : null
}

interface CostPeriod {
  readonly fromMs: number
  /** Null: unknown. */
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

  /** Prices at a moment in milliseconds since 1970; null: unknown. */
  ratesAt(atMs: number): CostRates | null {
    return this.#periods.find(period => period.fromMs <= atMs)?.rates ?? null
  }
}

const WHOLE_SHARE = { share: '1' }

/** The last step that begins on or before the day. */
function inForce<Step extends { readonly from: string }>(steps: readonly Step[], day: string): Step | undefined {
  return steps.findLast(step => step.from <= day)
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

/** The prices of every target in some tables. */
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
