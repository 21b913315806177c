/** Asks all providers concurrently for their model lists, with the credentials that the gateway would use. */

import { type Environment, readUpstreamsConfig, upstreamVariable } from '../../src/app/upstream-config.ts'
import type { Tables, Upstream } from '../../src/generated/types.ts'
import { type ListedModel, type ListLimits, listModels, ModelListError } from '../../src/upstream/list-models.ts'
import { createRegistry, type UpstreamRegistry } from '../../src/upstream/registry.ts'

/** asked: the provider answered. failed: it gave no usable answer. not_asked: there is no credential or no model list. */
export type Answer =
  | {
      readonly id: string
      readonly outcome: 'asked'
      readonly credential: string
      readonly models: readonly ListedModel[]
    }
  | { readonly id: string; readonly outcome: 'failed'; readonly credential: string; readonly reason: string }
  | { readonly id: string; readonly outcome: 'not_asked'; readonly reason: string }

export interface AskOptions {
  readonly tables: Tables
  readonly upstreams: readonly Upstream[]
  readonly environment: Environment
  readonly limits: ListLimits
}

/** Returns one answer per upstream, in order. Throws ConfigError if the environment is faulty. */
export async function askUpstreams({ tables, upstreams, environment, limits }: AskOptions): Promise<readonly Answer[]> {
  const config = readUpstreamsConfig(
    environment,
    tables.upstreams.map(({ id }) => id),
  )
  const registry = createRegistry({
    upstreams,
    environment: id => config.upstreams.get(id) ?? { baseUrl: null, apiKeys: [] },
    aws: config.aws,
    sandboxUrl: null,
    connectionsMax: 1,
    nowMs: () => performance.now(),
  })
  try {
    return await Promise.all(upstreams.map(facts => ask(registry, facts, limits)))
  } finally {
    await registry.close()
  }
}

async function ask(registry: UpstreamRegistry, { id, paths }: Upstream, limits: ListLimits): Promise<Answer> {
  if (paths.models === undefined) {
    return { id, outcome: 'not_asked', reason: 'no model list: upstreams.yaml has no path for `models`' }
  }
  const upstream = registry.find(id)
  if (upstream === null)
    return { id, outcome: 'not_asked', reason: `no credential: set ${upstreamVariable(id, 'API_KEY')}` }
  const credential = upstream.credentials.orderFor(0).find(({ secret }) => secret.kind === 'key')
  if (credential === undefined) {
    return {
      id,
      outcome: 'not_asked',
      reason: `cannot sign requests for model lists: set ${upstreamVariable(id, 'API_KEY')}`,
    }
  }
  try {
    return {
      id,
      outcome: 'asked',
      credential: credential.label,
      models: await listModels(upstream, credential, limits),
    }
  } catch (error) {
    if (!(error instanceof ModelListError)) throw error
    return { id, outcome: 'failed', credential: credential.label, reason: error.message }
  }
}
