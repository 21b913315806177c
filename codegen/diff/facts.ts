/** Flattens entries and upstreams into key-value pairs, keyed as in YAML, for diffs and display. */

import type { ModelEntry, Upstream } from '../../src/generated/types.ts'
import { canonicalJson } from '../canonical.ts'
import { resolveFacts } from '../dialect.ts'
import { describeModel } from '../resolve-family.ts'
import { upstreamDefaults } from '../resolve-upstream.ts'
import type { Schemas } from '../schemas.ts'
import { extrasFacts } from './extras.ts'

/** Facts by the key used in YAML, with dots between nested keys. */
export type Facts = ReadonlyMap<string, string>

type Target = ModelEntry['upstreams'][number]

/** Every fact of an entry except its id, its price and the facts of its targets. */
export function entryFacts(entry: ModelEntry): Facts {
  const { deprecated } = entry
  const facts = new Map<string, string>([
    ['name', entry.name],
    ['description', isDescriptionGenerated(entry) ? GENERATED : entry.description],
    ['description_vi', entry.descriptionVi ?? GENERATED],
    ['vendor', entry.vendor],
    ['family', entry.family],
    ['api_standard', entry.apiStandard],
    ['endpoints', entry.endpoints.join(', ')],
    ['capabilities', entry.capabilities.join(', ')],
    ['context_tokens', show(entry.contextTokens)],
    ['output_tokens_max', show(entry.outputTokensMax)],
    ['released', show(entry.releasedOn)],
    ['hold_output_tokens', show(entry.holdOutputTokens)],
    ['images_max', show(entry.imagesMax)],
    ['references_max', show(entry.referencesMax)],
    ['token_factor', show(entry.tokenFactor)],
    [
      'deprecated',
      deprecated === null
        ? '–'
        : `${deprecated.sinceOn}, retires ${show(deprecated.retiresOn)}, then ${show(deprecated.successor)}`,
    ],
    ['upstream', entry.upstreams.map(describeTarget).join(', ')],
  ])
  flatten(entry.counting, 'counting', facts)
  flatten(entry.tokenShares ?? {}, 'token_shares', facts)
  return facts
}

/** Every fact of a target, except what `describeTarget` says. */
export function targetFacts(target: Target): Facts {
  const facts = new Map<string, string>()
  if (target.cost.length > 0) facts.set('cost', steps(target.cost))
  flatten(target.dialect, 'dialect', facts)
  for (const [what, treatment] of extrasFacts(target.extras)) facts.set(what, treatment)
  if (target.rules.length > 0) facts.set('rules', target.rules.map(canonicalJson).join(' '))
  if (target.wires !== undefined) facts.set('wires', target.wires.map(describeWire).join(', '))
  return facts
}

function describeWire({ wire, cannot }: NonNullable<Target['wires']>[number]): string {
  return cannot.length === 0 ? wire : `${wire} (cannot: ${cannot.join(', ')})`
}

/** The words of a dialect, as `targetFacts` has those of the target. */
export function wireFacts(dialect: Target['dialect']): Facts {
  const facts = new Map<string, string>()
  flatten(dialect, 'dialect', facts)
  return facts
}

/**
 * Replaces descriptions that were generated from name and limits, so that a diff does not list a changed name or limit a second
 * time as a changed description.
 */
const GENERATED = 'made from the facts'

function isDescriptionGenerated({ description, name, contextTokens, outputTokensMax }: ModelEntry): boolean {
  return description === describeModel(name, contextTokens, outputTokensMax)
}

/** Describes where a target sends calls, under which model name and in which format. */
export function describeTarget(target: Target): string {
  const weight = target.weight === 0 ? '' : ` ×${target.weight}`
  return `${target.via}: ${target.model} (${target.standard})${weight}`
}

/** Every fact of an upstream; empty if the upstream is undefined. */
export function upstreamFacts(upstream: Upstream | undefined): Facts {
  const facts = new Map<string, string>()
  if (upstream === undefined) return facts
  const { id: _, discount, fx, auth, ...rest } = upstream
  // Only the scheme `header` has a configurable header; every other scheme has a fixed one.
  const { header: __, ...known } = auth
  flatten({ ...rest, auth: auth.scheme === 'header' ? auth : known }, '', facts)
  if (discount.length > 0) facts.set('discount', steps(discount))
  if (fx.length > 0) facts.set('fx', steps(fx))
  return facts
}

/** The schema's defaults for a dialect and an upstream. */
export function schemaDefaults(schemas: Schemas): Facts {
  const facts = new Map<string, string>()
  flatten(resolveFacts(schemas.dialect, []), 'dialect', facts)
  const { discount: _, fx: __, ...upstream } = upstreamDefaults(schemas)
  flatten(upstream, '', facts)
  return facts
}

/** Lists dated values in the form `from 2026-11-01: input 5, output 25`. */
export function steps(history: readonly { readonly from: string }[]): string {
  return history.map(({ from, ...values }) => `from ${from}: ${valuesOf(values)}`).join('; ')
}

function valuesOf(values: object): string {
  return Object.entries(values)
    .map(([key, value]) =>
      Array.isArray(value)
        ? `${key} [${value.map(item => valuesOf(item as object)).join('; ')}]`
        : `${snakeCase(key)} ${value}`,
    )
    .join(', ')
}

function flatten(value: object, prefix: string, facts: Map<string, string>): void {
  for (const [key, member] of Object.entries(value)) {
    const name = prefix === '' ? snakeCase(key) : `${prefix}.${snakeCase(key)}`
    if (member !== null && typeof member === 'object' && !Array.isArray(member)) flatten(member, name, facts)
    else facts.set(name, Array.isArray(member) ? `[${member.join(', ')}]` : show(member))
  }
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

function show(value: unknown): string {
  return value === null || value === undefined ? '–' : String(value)
}
