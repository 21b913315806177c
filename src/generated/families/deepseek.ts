// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect, WireLimit } from '../types.ts'
import { awsBedrockOpenaiHost, deepseekHost } from '../upstreams.ts'

const deepseekFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'deepseek',
  family: 'deepseek',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const deepseekDialect: Dialect = {
  ...DIALECT,
  turns: {
    ...DIALECT.turns,
    prefill: 'prefix',
  },
  content: {
    ...DIALECT.content,
    imagesUnsupported: 'placeholder',
    documents: 'placeholder',
  },
  sampling: {
    ...DIALECT.sampling,
    parameters: 'all_unless_thinking',
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'thinking_type',
    levels: ['low', 'high', 'max'],
    byDefault: true,
    echo: 'always',
  },
  tools: {
    ...DIALECT.tools,
    forced: 'not_with_thinking',
    strict: 'drop',
  },
  structuredOutput: {
    ...DIALECT.structuredOutput,
    method: 'json_object',
  },
  endUser: {
    ...DIALECT.endUser,
    field: 'user_id',
    lengthMax: 512,
    characters: 'word',
  },
}
const deepseekOnDeepseek = {
  via: 'deepseek',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: deepseekHost.extras,
  rules: deepseekHost.rules,
} as const satisfies Partial<TableTarget>
const deepseekOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const deepseekV4FlashFacts = {
  ...deepseekFacts,
  modelName: 'DeepSeek V4 Flash',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'Fast, cheap reasoning with a million tokens of context; good for bulk work, translation and code.',
  descriptionVi: 'Suy luận nhanh, giá rẻ, ngữ cảnh một triệu token; hợp với xử lý số lượng lớn, dịch thuật và viết mã.',
  contextTokens: 1000000,
  outputTokensMax: 384000,
  releasedOn: '2026-04-24',
} as const satisfies Partial<TableEntry>
const deepseekV4FlashDialect = deepseekDialect
const deepseekV4FlashCost: TableTarget['cost'] = [{ from: '2026-11-15', input: '0.3', cached: '0.006', output: '1.2' }]
const deepseekLimitsResponses: readonly WireLimit[] = ['stored_items']
const deepseekV4FlashResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  reasoning: {
    ...dialect.reasoning,
    field: 'item_content',
    echo: 'always',
    echoPlaceholder: ' ',
  },
})
const deepseekV4FlashOnDeepseek = {
  ...deepseekOnDeepseek,
  cost: deepseekV4FlashCost,
  dialect: deepseekHost.dialect(deepseekV4FlashDialect),
  wires: [
    { wire: 'chat_completions', cannot: [], dialect: deepseekHost.dialect(deepseekV4FlashDialect) },
    {
      wire: 'responses',
      cannot: deepseekLimitsResponses,
      dialect: deepseekV4FlashResponses(deepseekHost.dialect(deepseekV4FlashDialect)),
    },
  ],
} as const satisfies Partial<TableTarget>
const deepseekV4FlashOnDeepseekPerCall = {
  ...deepseekOnDeepseek,
  cost: deepseekV4FlashCost,
  dialect: perCall(deepseekHost.dialect(deepseekV4FlashDialect)),
  wires: [
    { wire: 'chat_completions', cannot: [], dialect: perCall(deepseekHost.dialect(deepseekV4FlashDialect)) },
    {
      wire: 'responses',
      cannot: deepseekLimitsResponses,
      dialect: deepseekV4FlashResponses(perCall(deepseekHost.dialect(deepseekV4FlashDialect))),
    },
  ],
} as const satisfies Partial<TableTarget>

const deepseekV3_2Facts = {
  ...deepseekFacts,
  modelName: 'DeepSeek-V3.2',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'Open model on AWS with reasoning and tools, for general work and code.',
  descriptionVi: 'Mô hình mở trên AWS, có suy luận và gọi công cụ, cho việc chung và viết mã.',
  contextTokens: 163840,
  outputTokensMax: 81920,
  releasedOn: '2026-02-06',
} as const satisfies Partial<TableEntry>
const deepseekV3_2Dialect: Dialect = {
  ...deepseekDialect,
  turns: {
    ...deepseekDialect.turns,
    prefill: 'unsupported',
  },
  sampling: {
    ...deepseekDialect.sampling,
    parameters: 'all',
  },
  reasoning: {
    ...deepseekDialect.reasoning,
    parameter: null,
    levels: null,
    byDefault: false,
    echo: 'never',
  },
  tools: {
    ...deepseekDialect.tools,
    forced: 'accepted',
  },
  endUser: {
    ...deepseekDialect.endUser,
    field: null,
  },
}
const deepseekV3_2Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.62', output: '1.85' }]
const deepseekV3_2OnAwsBedrockOpenai = {
  ...deepseekOnAwsBedrockOpenai,
  cost: deepseekV3_2Cost,
  dialect: awsBedrockOpenaiHost.dialect(deepseekV3_2Dialect),
}

const deepseekV4ProFacts = {
  ...deepseekFacts,
  modelName: 'DeepSeek V4 Pro',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'The larger DeepSeek V4, for hard reasoning, mathematics and code at one price per call.',
  descriptionVi: 'Bản DeepSeek V4 lớn, cho suy luận khó, toán và lập trình với giá cố định mỗi lượt gọi.',
  contextTokens: 1000000,
  outputTokensMax: 384000,
  releasedOn: '2026-04-24',
} as const satisfies Partial<TableEntry>
const deepseekV4ProDialect = deepseekDialect
const deepseekV4ProCost: TableTarget['cost'] = [{ from: '2026-11-15', input: '1.32', cached: '0.044', output: '3.96' }]
const deepseekV4ProOnDeepseekPerCall = {
  ...deepseekOnDeepseek,
  cost: deepseekV4ProCost,
  dialect: perCall(deepseekHost.dialect(deepseekV4ProDialect)),
}

/** Every entry of the family, in the order of the file. */
export const DEEPSEEK: readonly TableEntry[] = [
  {
    ...deepseekV4FlashFacts,
    id: 'deepseek-v4-flash',
    name: 'DeepSeek V4 Flash',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1500, per: 'mtok' },
    aliases: ['deepseek-chat', 'deepseek-flash', 'deepseek-reasoner', 'deepseek-v4.1-flash'],
    upstreams: [{ ...deepseekV4FlashOnDeepseek, model: 'deepseek-flash' }],
  },
  {
    ...deepseekV4FlashFacts,
    id: 'req/deepseek-v4-flash',
    name: 'DeepSeek V4 Flash (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 230, per: 'request' },
    upstreams: [{ ...deepseekV4FlashOnDeepseekPerCall, model: 'deepseek-flash' }],
  },
  {
    ...deepseekV3_2Facts,
    id: 'svc/deepseek-v3.2',
    name: 'DeepSeek-V3.2 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'mtok' },
    aliases: ['deepseek-v3.2'],
    upstreams: [{ ...deepseekV3_2OnAwsBedrockOpenai, model: 'deepseek.v3.2' }],
  },
  {
    ...deepseekV4ProFacts,
    id: 'req/deepseek-v4-pro',
    name: 'DeepSeek V4 Pro (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 260, per: 'request' },
    aliases: ['deepseek-v4-pro'],
    upstreams: [{ ...deepseekV4ProOnDeepseekPerCall, model: 'deepseek-v4-pro' }],
  },
]
