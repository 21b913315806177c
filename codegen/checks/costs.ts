/** Checks the operator's costs: dates in order, decimals within range, prices complete. */

import { FX_DECIMALS, SHARE_DECIMALS, USD_DECIMALS } from '../../src/catalogue/cost.ts'
import type { Path } from '../source.ts'
import { asList, asNumber, asRecord, type CatalogueView, type Loose, type Place, type Report } from '../view.ts'
import { checkDate, checkFarDate } from './retirements.ts'

const USD_KEYS = ['input', 'cached', 'cache_write', 'output', 'image', 'call'] as const

export function checkCosts(view: CatalogueView, report: Report): void {
  const holders = view.families.flatMap(({ models }) =>
    models.flatMap(model => [model, ...model.entries.flatMap(entry => [entry, ...entry.targets])]),
  )
  for (const place of holders) {
    if (place.value.cost === undefined) continue
    for (const { step, at } of checkHistory(view, report, place, 'cost')) {
      checkDecimals(report, place, { step, at, keys: USD_KEYS, decimals: USD_DECIMALS })
      checkPrices(report, place, step, at)
      checkProportions(report, place, step, at)
      for (const [index, tier] of asList(step.tiers).entries())
        checkTier(report, place, { at: [...at, 'tiers', index], tier, before: asList(step.tiers)[index - 1] })
    }
  }
  for (const host of view.hosts.values()) {
    for (const found of checkHistory(view, report, host, 'discount'))
      checkDecimals(report, host, { ...found, keys: ['share'], decimals: SHARE_DECIMALS })
    checkFx(view, report, host)
  }
  if (view.main === undefined) return
  checkFx(view, report, { file: view.main, path: ['defaults'], value: asRecord(view.settings.defaults) })
  checkExchange(view, report)
}

interface Holder extends Place {
  readonly value: Loose
}

interface Step {
  readonly step: Loose
  readonly at: Path
}

/** Reads a key that holds a single value or a list of dated values. Reports dates that are not in ascending order. */
function checkHistory(view: CatalogueView, report: Report, place: Holder, key: string): Step[] {
  const written = place.value[key]
  const steps: Step[] = Array.isArray(written)
    ? written.map((step, index) => ({ step: asRecord(step), at: [key, index] }))
    : [{ step: asRecord(written), at: [key] }]
  for (const [index, { step, at }] of steps.entries()) {
    checkDate(report, place, [...at, 'from'], step.from)
    const isFar = checkFarDate(view, place, [...at, 'from'], step.from, report)
    if (index === 0 && !isFar) checkBegun(view, report, place, { step, at }, key)
    const before = steps[index - 1]?.step.from
    if (typeof before !== 'string' || typeof step.from !== 'string' || before < step.from) continue
    const message = `\`${key}\` from ${step.from} comes after the one from ${before}`
    report(place, [...at, 'from'], 'date-order', message, 'list each day once, the oldest first')
  }
  return steps
}

/** Warns where nothing applies today, as after an edit of the day where a second value was meant to be added. */
function checkBegun({ today }: CatalogueView, report: Report, place: Place, { step: { from }, at }: Step, key: string) {
  if (today === null || typeof from !== 'string' || from <= today) return
  const until = key === 'discount' ? 'all of the list price counts' : 'costs are unknown'
  const fix = 'list the one that applies today before it, or correct the day'
  report(place, [...at, 'from'], 'cost-odd', `\`${key}\` begins on ${from}; until then ${until}`, fix)
}

interface Decimals extends Step {
  readonly keys: readonly string[]
  readonly decimals: number
}

function checkDecimals(report: Report, place: Place, { step, at, keys, decimals }: Decimals): void {
  for (const key of keys) {
    const value = asNumber(step[key])
    if (value === undefined || value < 0 || hasDecimals(value, decimals)) continue
    const message = `"${key}" has more than ${decimals} decimals`
    report(place, [...at, key], 'out-of-range', message, `write at most ${decimals} decimals`)
  }
}

/** Whether a number is written with at most this many decimals; false if it needs an exponent. */
function hasDecimals(value: number, decimals: number): boolean {
  const [whole = '', fraction = '', ...rest] = String(value).split('.')
  return /^\d+$/.test(whole) && /^\d*$/.test(fraction) && fraction.length <= decimals && rest.length === 0
}

function checkPrices(report: Report, place: Place, step: Loose, at: Path): void {
  if (Object.keys(step).length === 0) return
  const lacks = (key: string, because: string) =>
    report(place, at, 'cost-incomplete', `a cost with \`${because}\` but without \`${key}\``, `write \`${key}: …\` too`)
  const of = (key: string) => step[key] !== undefined
  const tokens = ['input', 'cached', 'cache_write', 'output', 'tiers'].find(of)
  if (tokens !== undefined && !of('input')) lacks('input', tokens)
  else if (tokens !== undefined && !of('output')) lacks('output', tokens)
  else if (tokens === undefined && !of('image') && !of('call'))
    report(place, at, 'cost-incomplete', 'a cost that names no price', 'write `input` and `output`, `image` or `call`')
}

/** Token prices below this, in USD per million, are probably meant per token or per thousand. */
const TOKEN_USD_MIN = 0.01

/** Warns about token prices that no provider has: they hide losses, because a cost that is too low looks like a margin. */
function checkProportions(report: Report, place: Place, step: Loose, at: Path): void {
  const rows = [
    [step, at] as const,
    ...asList(step.tiers).map((tier, index) => [asRecord(tier), [...at, 'tiers', index]] as const),
  ]
  const odd = (path: Path, message: string, fix: string) => report(place, path, 'cost-odd', message, fix)
  for (const [index, [row, path]] of rows.entries()) {
    const [input, cached, output] = ['input', 'cached', 'output'].map(key => asNumber(row[key]))
    const before = rows[index - 1]?.[0]
    const above = (key: string) => asNumber(before?.[key]) ?? 0
    if (input === undefined || output === undefined) continue
    if ([input, output].some(price => price > 0 && price < TOKEN_USD_MIN)) {
      odd([...path, 'input'], `input ${input} and output ${output} USD are very little`, 'write USD per million tokens')
    } else if (output < input) {
      odd([...path, 'output'], `output ${output} is cheaper than input ${input}`, 'make sure that they are not swapped')
    } else if (cached !== undefined && cached > input) {
      odd(
        [...path, 'cached'],
        `cached input ${cached} costs more than input ${input}`,
        'check for a missing or extra digit',
      )
    } else if (input < above('input') || output < above('output')) {
      odd(path, 'a tier for longer inputs is cheaper than the one before', 'check for a missing or extra digit')
    }
  }
}

function checkTier(report: Report, place: Place, facts: { at: Path; tier: unknown; before: unknown }): void {
  const tier = asRecord(facts.tier)
  checkDecimals(report, place, { step: tier, at: facts.at, keys: USD_KEYS, decimals: USD_DECIMALS })
  const [above, before] = [asNumber(tier.above_tokens), asNumber(asRecord(facts.before).above_tokens)]
  if (above === undefined || before === undefined || above > before) return
  const message = `"above_tokens" is ${above}, after ${before}`
  report(place, [...facts.at, 'above_tokens'], 'out-of-range', message, 'write the tiers in ascending order')
}

function checkFx(view: CatalogueView, report: Report, place: Holder): void {
  for (const found of checkHistory(view, report, place, 'fx'))
    checkDecimals(report, place, { ...found, keys: ['vnd_per_usd'], decimals: FX_DECIMALS })
}

/** Reports upstreams whose costs are in USD but that have no exchange rate. */
function checkExchange(view: CatalogueView, report: Report): void {
  if (asRecord(view.settings.defaults).fx !== undefined) return
  const named = new Set<string>()
  for (const entry of view.entries) {
    for (const target of entry.targets) {
      const holder = [target, entry, entry.model].find(({ value }) => value.cost !== undefined)
      const host = view.hosts.get(target.via)
      if (holder === undefined || host === undefined || host.value.fx !== undefined || named.has(host.id)) continue
      named.add(host.id)
      const message = `"${entry.id}" has a cost in USD, but "${host.id}" has no exchange rate`
      const fix = 'write `fx: { from: 2026-11-01, vnd_per_usd: 26300 }` under `defaults` in catalogue.yaml'
      report(holder, ['cost'], 'cost-incomplete', message, fix)
    }
  }
}
