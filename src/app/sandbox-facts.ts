/** Derives from the catalogue what the sandbox needs to know about the upstreams' models. */

import type { ModelEntry, Rule, Tables, UpstreamTarget } from '../generated/types.ts'
import type { ModelFacts, SandboxOptions } from '../sandbox/server.ts'

/** The fields that rules drop because the real provider would refuse them. */
function refusedBy(rules: readonly Rule[]): string[] {
  return rules.flatMap(rule => (rule.op === 'drop' && /^\/[^/*]+$/.test(rule.path) ? [rule.path.slice(1)] : []))
}

function factsOf(entry: ModelEntry, target: UpstreamTarget): ModelFacts {
  const { reasoning, usage, sampling, content } = target.dialect
  const responses = target.wires?.find(({ wire }) => wire === 'responses')?.dialect.reasoning
  return {
    kind: entry.kind,
    refuses: [
      ...refusedBy(target.rules),
      ...(usage.streamOptions ? [] : ['stream_options']),
      ...(content.documents === 'image_url' ? ['part:file'] : []),
    ],
    reasonsByDefault: reasoning.byDefault,
    hidesReasoning: reasoning.display === 'on_request',
    usageUnasked: !usage.streamOptions,
    ...(reasoning.besideTools !== 'accepted' && { effortBesideTools: reasoning.besideTools }),
    topK: sampling.topK,
    ...(responses?.sealed && { reasoningItems: 'sealed' as const }),
    ...(responses?.field === 'item_content' && { reasoningItems: 'text' as const }),
    reasoning: entry.capabilities.includes('reasoning'),
    vision: entry.capabilities.includes('vision'),
    tools: entry.capabilities.includes('tools'),
    contextTokens: entry.contextTokens,
    outputTokensMax: entry.outputTokensMax,
  }
}

export function sandboxFacts(tables: Tables): Pick<SandboxOptions, 'modelFacts' | 'modelNames'> {
  const models = new Map<string, Map<string, ModelFacts>>()
  for (const entry of tables.entries) {
    for (const target of entry.upstreams) {
      const known = models.get(target.via) ?? new Map<string, ModelFacts>()
      models.set(target.via, known.set(target.model, factsOf(entry, target)))
    }
  }
  return {
    modelFacts: (upstreamId, upstreamModel) => models.get(upstreamId)?.get(upstreamModel) ?? null,
    modelNames: upstreamId => [...(models.get(upstreamId)?.keys() ?? [])],
  }
}
