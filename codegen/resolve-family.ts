/** Resolves a family file: merges the facts that the family, its models and its entries state into complete entries. */

import { ENDPOINT_ORDER } from '../src/catalogue/endpoints.ts'
import type { Deprecation, Endpoint, UpstreamTarget } from '../src/generated/types.ts'
import { resolveCost } from './cost.ts'
import type { EntryContext } from './entry-context.ts'
import type { DeprecatedFacts, EntryFacts, FamilyFile, HostFacts, ModelFacts, TargetFacts } from './generated/types.ts'
import type { Layer } from './layers.ts'
import type { EntryOutline, FamilyOutline, ModelOutline } from './outline.ts'
import { resolveWires, type StatedWires, statedWires } from './resolve-wires.ts'
import { channelOf, KINDS, PER_CALL_PREFIX, prefixOf, servedEndpoints } from './standards.ts'

export function resolveFamily(context: EntryContext, family: FamilyFile): FamilyOutline {
  const layer = context.layer('family', family.family, family)
  const stated = statedByFamily(context, family)
  const wires = statedWires(context, family.family, family)
  const models = family.models.map(model => resolveModel(context, { family, stated, layer, wires }, model))
  const targets = models.flatMap(model => model.entries.flatMap(({ entry }) => entry.upstreams))
  const shared = [...new Set(targets.map(target => target.via))].map(via => {
    const upstream = context.hosts.get(via) as Layer
    return resolveTarget(context, { family: layer, upstream }, { via, model: '', standard: family.api_standard })
  })
  return { name: family.family, stated, layer, shared, models }
}

interface FamilyContext {
  readonly family: FamilyFile
  readonly stated: ReturnType<typeof statedByFamily>
  readonly layer: Layer
  readonly wires: StatedWires
}

function resolveModel(context: EntryContext, within: FamilyContext, model: ModelFacts): ModelOutline {
  const layer = context.layer('model', model.name, model)
  const stated = statedByModel(context, within.family, model)
  const shared = withoutUndefined({ cost: model.cost === undefined ? undefined : resolveCost(model.cost) })
  const wires = statedWires(context, model.name, model)
  const entries = model.entries.map(entry =>
    resolveEntry(context, within, { model, stated, layer, shared, wires }, entry),
  )
  return { name: model.name, stated, layer, shared, entries }
}

interface ModelContext {
  readonly model: ModelFacts
  readonly stated: ReturnType<typeof statedByModel>
  readonly layer: Layer
  readonly shared: ModelOutline['shared']
  readonly wires: StatedWires
}

function resolveEntry(
  context: EntryContext,
  within: FamilyContext,
  { model, stated: statedOfModel, layer, shared, wires: wiresOfModel }: ModelContext,
  entry: EntryFacts,
): EntryOutline {
  const { family } = within
  const inherited = { ...context.defaults, ...within.stated, ...statedOfModel }
  const aliases = context.aliasesOf.get(entry.id)
  const targets = targetsOf(entry)
  const contextTokens = entry.context_tokens ?? inherited.contextTokens
  const outputTokensMax = entry.output_tokens_max ?? inherited.outputTokensMax
  const name = entry.name ?? model.name + nameSuffix(entry.id, context.sources.catalogue.service, inherited.kind)
  const description = model.description ?? describeModel(name, contextTokens, outputTokensMax)
  const path = { family: within.layer, model: layer, entry: context.layer('entry', entry.id, entry) }
  const wiresOfEntry = statedWires(context, entry.id, entry)
  const call = entry.price.per === 'request' ? callLayer(context, entry) : undefined
  const stated = {
    id: entry.id,
    name,
    ...(model.description === undefined && { description }),
    channel: channelOf(entry.id, context.sources.catalogue.service),
    endpoints: resolveEndpoints(context, family, model, targets),
    price: { vnd: entry.price.vnd, per: entry.price.per },
    ...withoutUndefined({
      contextTokens: entry.context_tokens,
      outputTokensMax: entry.output_tokens_max,
      holdOutputTokens: entry.hold_output_tokens,
      imagesMax: entry.images_max,
      referencesMax: entry.references_max,
      aliases,
      deprecated: resolveDeprecation(entry.deprecated),
    }),
    upstreams: targets.map(target => {
      const upstream = context.hosts.get(target.via) as Layer
      const layers = { ...path, upstream, target: context.layer('target', entry.id, target), call }
      const written = target.cost ?? entry.cost
      const cost = written === undefined ? shared.cost : resolveCost(written)
      const standard = target.standard ?? family.api_standard
      const { paths } = context.sources.upstreams.upstreams[target.via] as HostFacts
      const { family: ofFamily, model: ofModel, entry: ofEntry } = path
      const wires = resolveWires(
        context.layers.dialects,
        [within.wires, wiresOfModel, wiresOfEntry, statedWires(context, entry.id, target)],
        { standard, paths, layers: [ofFamily, ofModel, ofEntry, upstream, layers.target, call] },
      )
      return resolveTarget(context, layers, { ...target, standard, cost, wires })
    }),
  }
  return { stated, entry: { ...inherited, description, ...stated } }
}

function statedByFamily(context: EntryContext, family: FamilyFile) {
  const { counting } = family
  return {
    kind: KINDS[family.api_standard],
    vendor: family.vendor,
    family: family.family,
    apiStandard: family.api_standard,
    ...withoutUndefined({
      tokenFactor: family.token_factor,
      tokenShares: family.token_shares,
      counting: counting && context.counting(counting),
    }),
  }
}

function statedByModel(context: EntryContext, family: FamilyFile, model: ModelFacts) {
  const { counting } = model
  return {
    modelName: model.name,
    capabilities: model.capabilities,
    ...withoutUndefined({
      description: model.description,
      descriptionVi: model.description_vi,
      contextTokens: model.context_tokens,
      outputTokensMax: model.output_tokens_max,
      releasedOn: model.released,
      holdOutputTokens: model.hold_output_tokens,
      imagesMax: model.images_max,
      referencesMax: model.references_max,
      tokenFactor: model.token_factor,
      tokenShares: model.token_shares,
      counting: counting && context.counting(family.counting, counting),
      deprecated: resolveDeprecation(model.deprecated),
    }),
  }
}

type WithoutUndefined<Facts> = { readonly [Key in keyof Facts]?: Exclude<Facts[Key], undefined> }

function withoutUndefined<Facts extends object>(facts: Facts): WithoutUndefined<Facts> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as WithoutUndefined<Facts>
}

interface TargetLayers {
  readonly family: Layer
  readonly model?: Layer
  readonly entry?: Layer
  readonly upstream: Layer
  readonly target?: Layer
  readonly call?: Layer | undefined
}

const NO_COST: UpstreamTarget['cost'] = []

function resolveTarget(
  { layers }: EntryContext,
  { family, model, entry, upstream, target, call }: TargetLayers,
  facts: Omit<TargetFacts, 'cost' | 'wires'> &
    Pick<UpstreamTarget, 'standard'> & {
      cost?: UpstreamTarget['cost'] | undefined
      wires?: UpstreamTarget['wires'] | undefined
    },
): UpstreamTarget {
  return {
    via: facts.via,
    model: facts.model,
    weight: facts.weight ?? 0,
    cost: facts.cost ?? NO_COST,
    standard: facts.standard,
    dialect: layers.dialects.resolve([family, model, entry, upstream, target, call]),
    ...(facts.wires !== undefined && { wires: facts.wires }),
    extras: layers.extras.resolve([upstream, family, model, entry, target]),
    rules: layers.rules.resolve([family, model, entry, upstream, target]),
  }
}

/** The dialect layer of an entry priced per call: it limits a call to one choice, unless the entry itself allows more. */
function callLayer(context: EntryContext, { id, dialect }: EntryFacts): Layer {
  const choices = dialect?.output?.choices_max
  if (choices === undefined || choices === null) return context.perCall
  return context.layer('call', id, { dialect: { output: { choices_max: choices } } })
}

function targetsOf({ upstream }: EntryFacts): readonly TargetFacts[] {
  return Array.isArray(upstream) ? (upstream as readonly TargetFacts[]) : [upstream as TargetFacts]
}

function nameSuffix(id: string, service: string, kind: string): string {
  if (channelOf(id, service) === 'aws') return ' (AWS)'
  return prefixOf(id) === PER_CALL_PREFIX && kind === 'chat' ? ' (per call)' : ''
}

/** Generates the description of a model that has none. */
export function describeModel(name: string, contextTokens: number | null, outputTokensMax: number | null): string {
  if (contextTokens === null || outputTokensMax === null) return `${name}.`
  return `${name}: ${withCommas(contextTokens)} tokens of context, up to ${withCommas(outputTokensMax)} of output.`
}

function withCommas(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Endpoints that every target of the entry serves, because a call may go to any of its targets. */
function resolveEndpoints(
  context: EntryContext,
  family: FamilyFile,
  model: ModelFacts,
  targets: readonly TargetFacts[],
): readonly Endpoint[] {
  const served = targets.map(target => {
    const host = context.sources.upstreams.upstreams[target.via] as HostFacts
    return servedEndpoints(target.standard ?? family.api_standard, host.paths as Record<string, unknown>)
  })
  return ENDPOINT_ORDER.filter(
    endpoint =>
      served.every(endpoints => endpoints.includes(endpoint)) &&
      (model.endpoints === undefined || model.endpoints.includes(endpoint)),
  )
}

function resolveDeprecation(facts: DeprecatedFacts | undefined): Deprecation | undefined {
  if (facts === undefined) return undefined
  return { sinceOn: facts.since, retiresOn: facts.retires ?? null, successor: facts.successor ?? null }
}
