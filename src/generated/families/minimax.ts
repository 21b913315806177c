// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect, Rule } from '../types.ts'
import { awsBedrockOpenaiHost, minimaxHost } from '../upstreams.ts'

const minimaxFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'minimax',
  family: 'minimax',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const minimaxDialect: Dialect = {
  ...DIALECT,
  output: {
    ...DIALECT.output,
    capField: 'max_completion_tokens',
  },
  turns: {
    ...DIALECT.turns,
    midSystem: 'user_text',
  },
  content: {
    ...DIALECT.content,
    documents: 'placeholder',
  },
  sampling: {
    ...DIALECT.sampling,
    temperatureMax: 1,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'thinking_type',
    byDefault: true,
    tag: 'think',
    echo: 'if_present',
  },
  tools: {
    ...DIALECT.tools,
    arguments: 'object',
    schema: 'required',
    strict: 'drop',
  },
  structuredOutput: {
    ...DIALECT.structuredOutput,
    method: 'prompt',
  },
  endUser: {
    ...DIALECT.endUser,
    field: null,
  },
}
const minimaxOnMinimax = {
  via: 'minimax',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: minimaxHost.extras,
  rules: minimaxHost.rules,
} as const satisfies Partial<TableTarget>
const minimaxOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const minimaxM3Facts = {
  ...minimaxFacts,
  modelName: 'MiniMax-M3',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Reasoning, pictures and tools at a low price, for agents and office work.',
  descriptionVi: 'Suy luận, đọc ảnh và gọi công cụ với giá rẻ, cho tác tử và việc văn phòng.',
  contextTokens: 512000,
  outputTokensMax: 128000,
  releasedOn: '2026-06-01',
} as const satisfies Partial<TableEntry>
const minimaxM3Dialect = minimaxDialect
const minimaxM3Cost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '0.3',
    cached: '0.06',
    output: '1.2',
    tiers: [{ aboveTokens: 512000, input: '0.6', cached: '0.12', cacheWrite: '0.6', output: '2.4' }],
  },
]
const minimaxM3Rules: readonly Rule[] = [
  { op: 'map', path: '/thinking/type', values: { enabled: 'adaptive' } },
  { op: 'default', path: '/reasoning_split', value: true },
]
const minimaxM3OnMinimax = {
  ...minimaxOnMinimax,
  cost: minimaxM3Cost,
  dialect: minimaxHost.dialect(minimaxM3Dialect),
  rules: [...minimaxM3Rules, ...minimaxHost.rules],
}
const minimaxM3OnMinimaxPerCall = {
  ...minimaxOnMinimax,
  cost: minimaxM3Cost,
  dialect: perCall(minimaxHost.dialect(minimaxM3Dialect)),
  rules: [...minimaxM3Rules, ...minimaxHost.rules],
}

const minimaxM2_5Facts = {
  ...minimaxFacts,
  modelName: 'MiniMax M2.5',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'Open model on AWS for coding agents and office work.',
  descriptionVi: 'Mô hình mở trên AWS cho tác tử lập trình và việc văn phòng.',
  contextTokens: 196608,
  outputTokensMax: 98304,
  releasedOn: '2026-03-18',
} as const satisfies Partial<TableEntry>
const minimaxM2_5Dialect: Dialect = {
  ...minimaxDialect,
  output: {
    ...minimaxDialect.output,
    capField: 'max_tokens',
  },
  content: {
    ...minimaxDialect.content,
    imagesUnsupported: 'placeholder',
  },
  reasoning: {
    ...minimaxDialect.reasoning,
    parameter: null,
    byDefault: false,
    echo: 'never',
  },
}
const minimaxM2_5Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.3', output: '1.2' }]
const minimaxM2_5OnAwsBedrockOpenai = {
  ...minimaxOnAwsBedrockOpenai,
  cost: minimaxM2_5Cost,
  dialect: awsBedrockOpenaiHost.dialect(minimaxM2_5Dialect),
}

/** Every entry of the family, in the order of the file. */
export const MINIMAX: readonly TableEntry[] = [
  {
    ...minimaxM3Facts,
    id: 'minimax-m3',
    name: 'MiniMax-M3',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1700, per: 'mtok' },
    upstreams: [{ ...minimaxM3OnMinimax, model: 'MiniMax-M3' }],
  },
  {
    ...minimaxM3Facts,
    id: 'req/minimax-m3',
    name: 'MiniMax-M3 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 380, per: 'request' },
    upstreams: [{ ...minimaxM3OnMinimaxPerCall, model: 'MiniMax-M3' }],
  },
  {
    ...minimaxM2_5Facts,
    id: 'svc/minimax-m2.5',
    name: 'MiniMax M2.5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'mtok' },
    aliases: ['minimax-m2.5'],
    upstreams: [{ ...minimaxM2_5OnAwsBedrockOpenai, model: 'minimax.minimax-m2.5' }],
  },
]
