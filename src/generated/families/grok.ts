// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect, Rule, WireLimit } from '../types.ts'
import { awsBedrockOpenaiHost, xaiHost } from '../upstreams.ts'

const grokFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'xai',
  family: 'grok',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const grokDialect: Dialect = {
  ...DIALECT,
  content: {
    ...DIALECT.content,
    documents: 'placeholder',
  },
  sampling: {
    ...DIALECT.sampling,
    stopMax: 0,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: null,
    byDefault: true,
    disable: 'refused',
  },
  usage: {
    ...DIALECT.usage,
    outputCounts: 'without_reasoning',
  },
}
const grokRules: readonly Rule[] = [
  { op: 'drop', path: '/presence_penalty' },
  { op: 'drop', path: '/frequency_penalty' },
]
const grokOnXai = {
  via: 'xai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: xaiHost.extras,
  rules: [...grokRules, ...xaiHost.rules],
} as const satisfies Partial<TableTarget>
const grokOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: [...grokRules, ...awsBedrockOpenaiHost.rules],
} as const satisfies Partial<TableTarget>

const grok4_3Facts = {
  ...grokFacts,
  modelName: 'Grok 4.3',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: "xAI's general model for reasoning, pictures and agents, with a million tokens of context.",
  descriptionVi: 'Mô hình đa năng của xAI cho suy luận, đọc ảnh và tác tử, ngữ cảnh một triệu token.',
  contextTokens: 1000000,
  outputTokensMax: 131072,
  releasedOn: '2026-04-17',
} as const satisfies Partial<TableEntry>
const grok4_3Dialect: Dialect = {
  ...grokDialect,
  reasoning: {
    ...grokDialect.reasoning,
    parameter: 'reasoning_effort',
    levels: ['none', 'low', 'medium', 'high'],
    disable: 'allowed',
  },
}
const grok4_3Cost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '1.25',
    cached: '0.2',
    output: '2.5',
    tiers: [{ aboveTokens: 200000, input: '2.5', cached: '0.4', cacheWrite: '2.5', output: '5' }],
  },
]
const grokLimitsChatCompletions: readonly WireLimit[] = ['sealed_reasoning']
const grokResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  turns: {
    ...dialect.turns,
    systemRole: 'developer',
  },
  reasoning: {
    ...dialect.reasoning,
    sealed: true,
  },
})
const grok4_3OnXai = {
  ...grokOnXai,
  cost: grok4_3Cost,
  dialect: xaiHost.dialect(grok4_3Dialect),
  wires: [
    { wire: 'chat_completions', cannot: grokLimitsChatCompletions, dialect: xaiHost.dialect(grok4_3Dialect) },
    { wire: 'responses', cannot: [], dialect: grokResponses(xaiHost.dialect(grok4_3Dialect)) },
  ],
} as const satisfies Partial<TableTarget>
const grok4_3OnAwsBedrockOpenai = {
  ...grokOnAwsBedrockOpenai,
  cost: [{ from: '2026-11-01', input: '1.25', cached: '0.2', output: '2.5' }],
  dialect: awsBedrockOpenaiHost.dialect(grok4_3Dialect),
}
const grok4_3OnXaiPerCall = {
  ...grokOnXai,
  cost: grok4_3Cost,
  dialect: perCall(xaiHost.dialect(grok4_3Dialect)),
  wires: [
    { wire: 'chat_completions', cannot: grokLimitsChatCompletions, dialect: perCall(xaiHost.dialect(grok4_3Dialect)) },
    { wire: 'responses', cannot: [], dialect: grokResponses(perCall(xaiHost.dialect(grok4_3Dialect))) },
  ],
} as const satisfies Partial<TableTarget>

const grokBuild0_1Facts = {
  ...grokFacts,
  modelName: 'Grok Build 0.1',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: "xAI's coding model for agents that write and change software.",
  descriptionVi: 'Mô hình lập trình của xAI, cho tác tử viết và sửa phần mềm.',
  contextTokens: 256000,
  outputTokensMax: 256000,
  releasedOn: '2026-04-16',
} as const satisfies Partial<TableEntry>
const grokBuild0_1Dialect = grokDialect
const grokBuild0_1Cost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '1',
    cached: '0.2',
    output: '2',
    tiers: [{ aboveTokens: 200000, input: '2', cached: '0.4', cacheWrite: '2', output: '4' }],
  },
]
const grokBuild0_1OnXaiPerCall = {
  ...grokOnXai,
  cost: grokBuild0_1Cost,
  dialect: perCall(xaiHost.dialect(grokBuild0_1Dialect)),
  wires: [
    {
      wire: 'chat_completions',
      cannot: grokLimitsChatCompletions,
      dialect: perCall(xaiHost.dialect(grokBuild0_1Dialect)),
    },
    { wire: 'responses', cannot: [], dialect: grokResponses(perCall(xaiHost.dialect(grokBuild0_1Dialect))) },
  ],
} as const satisfies Partial<TableTarget>

/** Every entry of the family, in the order of the file. */
export const GROK: readonly TableEntry[] = [
  {
    ...grok4_3Facts,
    id: 'grok-4.3',
    name: 'Grok 4.3',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 3400, per: 'mtok' },
    outputTokensMax: 30000,
    aliases: ['grok-4', 'grok-4-latest', 'grok-latest'],
    upstreams: [{ ...grok4_3OnXai, model: 'grok-4.3' }],
  },
  {
    ...grok4_3Facts,
    id: 'svc/grok-4.3',
    name: 'Grok 4.3 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 3800, per: 'mtok' },
    upstreams: [{ ...grok4_3OnAwsBedrockOpenai, model: 'xai.grok-4.3' }],
  },
  {
    ...grok4_3Facts,
    id: 'req/grok-4.3',
    name: 'Grok 4.3 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 850, per: 'request' },
    outputTokensMax: 30000,
    upstreams: [{ ...grok4_3OnXaiPerCall, model: 'grok-4.3' }],
  },
  {
    ...grokBuild0_1Facts,
    id: 'req/grok-build-0.1',
    name: 'Grok Build 0.1 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 480, per: 'request' },
    aliases: ['grok-build-0.1'],
    upstreams: [{ ...grokBuild0_1OnXaiPerCall, model: 'grok-build-0.1' }],
  },
]
