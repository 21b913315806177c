// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { awsBedrockOpenaiHost, moonshotaiHost } from '../upstreams.ts'

const kimiFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'moonshotai',
  family: 'kimi',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const kimiDialect: Dialect = {
  ...DIALECT,
  output: {
    ...DIALECT.output,
    capField: 'max_completion_tokens',
  },
  turns: {
    ...DIALECT.turns,
    prefill: 'partial',
  },
  content: {
    ...DIALECT.content,
    imageUrl: 'inline',
    documents: 'placeholder',
  },
  sampling: {
    ...DIALECT.sampling,
    parameters: null,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'thinking_type',
    byDefault: true,
    echo: 'always',
    echoPlaceholder: ' ',
  },
  tools: {
    ...DIALECT.tools,
    forced: 'not_with_thinking',
    nameStart: 'letter',
    schema: 'explicit_types',
    strict: 'drop',
  },
  structuredOutput: {
    ...DIALECT.structuredOutput,
    method: 'json_object',
  },
}
const kimiOnMoonshotai = {
  via: 'moonshotai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: moonshotaiHost.extras,
  rules: moonshotaiHost.rules,
} as const satisfies Partial<TableTarget>
const kimiOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const kimiK2_7CodeFacts = {
  ...kimiFacts,
  modelName: 'Kimi K2.7 Code',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: "Moonshot AI's coding model with long answers, for agents in large projects.",
  descriptionVi: 'Mô hình lập trình của Moonshot AI với câu trả lời dài, cho tác tử trong dự án lớn.',
  contextTokens: 262144,
  outputTokensMax: 262144,
  releasedOn: '2026-06-12',
} as const satisfies Partial<TableEntry>
const kimiK2_7CodeDialect: Dialect = {
  ...kimiDialect,
  reasoning: {
    ...kimiDialect.reasoning,
    disable: 'refused',
  },
}
const kimiK2_7CodeCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.95', cached: '0.19', output: '4' }]
const kimiK2_7CodeOnMoonshotai = {
  ...kimiOnMoonshotai,
  cost: kimiK2_7CodeCost,
  dialect: moonshotaiHost.dialect(kimiK2_7CodeDialect),
}
const kimiK2_7CodeOnMoonshotaiPerCall = {
  ...kimiOnMoonshotai,
  cost: kimiK2_7CodeCost,
  dialect: perCall(moonshotaiHost.dialect(kimiK2_7CodeDialect)),
}

const kimiK2_6Facts = {
  ...kimiFacts,
  modelName: 'Kimi K2.6',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'General agent model that reads pictures, for code, research and tool use.',
  descriptionVi: 'Mô hình tác tử đa năng, đọc được ảnh, cho viết mã, tra cứu và gọi công cụ.',
  contextTokens: 262144,
  outputTokensMax: 262144,
  releasedOn: '2026-04-21',
} as const satisfies Partial<TableEntry>
const kimiK2_6Dialect = kimiDialect
const kimiK2_6Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.95', cached: '0.16', output: '4' }]
const kimiK2_6OnMoonshotai = {
  ...kimiOnMoonshotai,
  cost: kimiK2_6Cost,
  dialect: moonshotaiHost.dialect(kimiK2_6Dialect),
}
const kimiK2_6OnMoonshotaiPerCall = {
  ...kimiOnMoonshotai,
  cost: kimiK2_6Cost,
  dialect: perCall(moonshotaiHost.dialect(kimiK2_6Dialect)),
}

const kimiK2_5Facts = {
  ...kimiFacts,
  modelName: 'Kimi K2.5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Open model on AWS that reads pictures, for agents and code.',
  descriptionVi: 'Mô hình mở trên AWS, đọc được ảnh, cho tác tử và viết mã.',
  contextTokens: 262143,
  outputTokensMax: 16000,
  releasedOn: '2026-02-06',
} as const satisfies Partial<TableEntry>
const kimiK2_5Dialect: Dialect = {
  ...kimiDialect,
  output: {
    ...kimiDialect.output,
    capField: 'max_tokens',
  },
  turns: {
    ...kimiDialect.turns,
    prefill: 'unsupported',
  },
  sampling: {
    ...kimiDialect.sampling,
    parameters: 'all',
  },
  reasoning: {
    ...kimiDialect.reasoning,
    parameter: null,
    byDefault: false,
    echo: 'never',
  },
  tools: {
    ...kimiDialect.tools,
    forced: 'accepted',
    schema: 'no_meta_schema',
  },
}
const kimiK2_5Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.6', output: '3' }]
const kimiK2_5OnAwsBedrockOpenai = {
  ...kimiOnAwsBedrockOpenai,
  cost: kimiK2_5Cost,
  dialect: awsBedrockOpenaiHost.dialect(kimiK2_5Dialect),
}

/** Every entry of the family, in the order of the file. */
export const KIMI: readonly TableEntry[] = [
  {
    ...kimiK2_7CodeFacts,
    id: 'kimi-k2.7-code',
    name: 'Kimi K2.7 Code',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2100, per: 'mtok' },
    aliases: ['kimi-for-coding'],
    upstreams: [{ ...kimiK2_7CodeOnMoonshotai, model: 'kimi-k2.7-code' }],
  },
  {
    ...kimiK2_7CodeFacts,
    id: 'req/kimi-k2.7-code',
    name: 'Kimi K2.7 Code (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 500, per: 'request' },
    upstreams: [{ ...kimiK2_7CodeOnMoonshotaiPerCall, model: 'kimi-k2.7-code' }],
  },
  {
    ...kimiK2_6Facts,
    id: 'kimi-k2.6',
    name: 'Kimi K2.6',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'mtok' },
    aliases: ['kimi-latest'],
    upstreams: [{ ...kimiK2_6OnMoonshotai, model: 'kimi-k2.6' }],
  },
  {
    ...kimiK2_6Facts,
    id: 'req/kimi-k2.6',
    name: 'Kimi K2.6 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 420, per: 'request' },
    upstreams: [{ ...kimiK2_6OnMoonshotaiPerCall, model: 'kimi-k2.6' }],
  },
  {
    ...kimiK2_5Facts,
    id: 'svc/kimi-k2.5',
    name: 'Kimi K2.5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2300, per: 'mtok' },
    aliases: ['kimi-k2.5'],
    upstreams: [{ ...kimiK2_5OnAwsBedrockOpenai, model: 'moonshotai.kimi-k2.5' }],
  },
]
