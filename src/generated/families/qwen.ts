// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { alibabaHost, awsBedrockOpenaiHost } from '../upstreams.ts'

const qwenFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'alibaba',
  family: 'qwen',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const qwenDialect: Dialect = {
  ...DIALECT,
  turns: {
    ...DIALECT.turns,
    midSystem: 'user_text',
  },
  content: {
    ...DIALECT.content,
    imagesUnsupported: 'placeholder',
    documents: 'placeholder',
  },
  sampling: {
    ...DIALECT.sampling,
    topK: true,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'enable_thinking',
    byDefault: true,
    budgetField: 'thinking_budget',
    echo: 'if_present',
  },
  tools: {
    ...DIALECT.tools,
    forced: 'not_with_thinking',
    arguments: 'object',
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
const qwenOnAlibaba = {
  via: 'alibaba',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: alibabaHost.extras,
  rules: alibabaHost.rules,
} as const satisfies Partial<TableTarget>
const qwenOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const qwen3_7MaxFacts = {
  ...qwenFacts,
  modelName: 'Qwen3.7 Max',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: "Alibaba's most capable Qwen, for reasoning, code and agents over long inputs.",
  descriptionVi: 'Bản Qwen mạnh nhất của Alibaba, cho suy luận, lập trình và tác tử trên đầu vào dài.',
  contextTokens: 1000000,
  outputTokensMax: 65536,
  releasedOn: '2026-05-21',
} as const satisfies Partial<TableEntry>
const qwen3_7MaxDialect = qwenDialect
const qwen3_7MaxCost: TableTarget['cost'] = [
  { from: '2026-10-09', input: '2.5', cached: '0.5', cacheWrite: '3.125', output: '7.5' },
]
const qwen3_7MaxOnAlibaba = { ...qwenOnAlibaba, cost: qwen3_7MaxCost, dialect: alibabaHost.dialect(qwen3_7MaxDialect) }
const qwen3_7MaxOnAlibabaPerCall = {
  ...qwenOnAlibaba,
  cost: qwen3_7MaxCost,
  dialect: perCall(alibabaHost.dialect(qwen3_7MaxDialect)),
}

const qwen3_7PlusFacts = {
  ...qwenFacts,
  modelName: 'Qwen3.7 Plus',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Balanced Qwen that reads pictures, for chat, documents and tool use at a low price.',
  descriptionVi: 'Qwen cân bằng, đọc được ảnh, cho trò chuyện, tài liệu và gọi công cụ với giá rẻ.',
  contextTokens: 1000000,
  outputTokensMax: 64000,
  releasedOn: '2026-06-02',
} as const satisfies Partial<TableEntry>
const qwen3_7PlusDialect = qwenDialect
const qwen3_7PlusCost: TableTarget['cost'] = [
  {
    from: '2026-10-09',
    input: '0.4',
    cached: '0.08',
    cacheWrite: '0.5',
    output: '1.6',
    tiers: [{ aboveTokens: 256000, input: '1.2', cached: '0.24', cacheWrite: '1.2', output: '4.8' }],
  },
]
const qwen3_7PlusOnAlibaba = {
  ...qwenOnAlibaba,
  cost: qwen3_7PlusCost,
  dialect: alibabaHost.dialect(qwen3_7PlusDialect),
}
const qwen3_7PlusOnAlibabaPerCall = {
  ...qwenOnAlibaba,
  cost: qwen3_7PlusCost,
  dialect: perCall(alibabaHost.dialect(qwen3_7PlusDialect)),
}

const qwen3CoderPlusFacts = {
  ...qwenFacts,
  modelName: 'Qwen3 Coder Plus',
  capabilities: ['tools', 'streaming'],
  description: 'Writes and changes code with tools over a million tokens, without a reasoning phase.',
  descriptionVi: 'Viết và sửa mã bằng công cụ trên một triệu token, không có bước suy luận.',
  contextTokens: 1048576,
  outputTokensMax: 65536,
  releasedOn: '2025-07-23',
} as const satisfies Partial<TableEntry>
const qwen3CoderPlusDialect: Dialect = {
  ...qwenDialect,
  reasoning: {
    ...qwenDialect.reasoning,
    parameter: null,
    byDefault: false,
    budgetField: null,
    echo: 'never',
  },
  tools: {
    ...qwenDialect.tools,
    forced: 'accepted',
  },
  structuredOutput: {
    ...qwenDialect.structuredOutput,
    method: 'json_object',
  },
}
const qwen3CoderPlusCost: TableTarget['cost'] = [
  {
    from: '2026-10-09',
    input: '1',
    cached: '0.2',
    output: '5',
    tiers: [
      { aboveTokens: 32000, input: '1.8', cached: '0.36', cacheWrite: '2.25', output: '9' },
      { aboveTokens: 128000, input: '3', cached: '0.6', cacheWrite: '3', output: '15' },
      { aboveTokens: 256000, input: '6', cached: '1.2', cacheWrite: '6', output: '60' },
    ],
  },
]
const qwen3CoderPlusOnAlibaba = {
  ...qwenOnAlibaba,
  cost: qwen3CoderPlusCost,
  dialect: alibabaHost.dialect(qwen3CoderPlusDialect),
}
const qwen3CoderPlusOnAlibabaPerCall = {
  ...qwenOnAlibaba,
  cost: qwen3CoderPlusCost,
  dialect: perCall(alibabaHost.dialect(qwen3CoderPlusDialect)),
}

const qwen3Coder480bA35bInstructFacts = {
  ...qwenFacts,
  modelName: 'Qwen3 Coder 480B A35B Instruct',
  capabilities: ['tools', 'streaming'],
  description: 'Large open coding model on AWS, without a reasoning phase.',
  descriptionVi: 'Mô hình lập trình mở cỡ lớn trên AWS, không có bước suy luận.',
  contextTokens: 131072,
  outputTokensMax: 65536,
  releasedOn: '2025-09-18',
} as const satisfies Partial<TableEntry>
const qwen3Coder480bA35bInstructDialect: Dialect = {
  ...qwenDialect,
  reasoning: {
    ...qwenDialect.reasoning,
    parameter: null,
    byDefault: false,
    budgetField: null,
    echo: 'never',
  },
  tools: {
    ...qwenDialect.tools,
    forced: 'accepted',
  },
  structuredOutput: {
    ...qwenDialect.structuredOutput,
    method: 'json_object',
  },
}
const qwen3Coder480bA35bInstructCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.45', output: '1.8' }]
const qwen3Coder480bA35bInstructOnAwsBedrockOpenai = {
  ...qwenOnAwsBedrockOpenai,
  cost: qwen3Coder480bA35bInstructCost,
  dialect: awsBedrockOpenaiHost.dialect(qwen3Coder480bA35bInstructDialect),
}

const qwenQwen3Vl235bA22bInstructFacts = {
  ...qwenFacts,
  modelName: 'Qwen/Qwen3-VL-235B-A22B-Instruct',
  capabilities: ['vision', 'tools', 'streaming'],
  description: 'Large open model on AWS that reads pictures, charts and scanned documents.',
  descriptionVi: 'Mô hình mở cỡ lớn trên AWS, đọc ảnh, biểu đồ và tài liệu quét.',
  contextTokens: 262000,
  outputTokensMax: 262000,
  releasedOn: '2025-10-04',
} as const satisfies Partial<TableEntry>
const qwenQwen3Vl235bA22bInstructDialect: Dialect = {
  ...qwenDialect,
  reasoning: {
    ...qwenDialect.reasoning,
    parameter: null,
    byDefault: false,
    budgetField: null,
    echo: 'never',
  },
  tools: {
    ...qwenDialect.tools,
    forced: 'accepted',
  },
  structuredOutput: {
    ...qwenDialect.structuredOutput,
    method: 'json_object',
  },
}
const qwenQwen3Vl235bA22bInstructCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.53', output: '2.66' }]
const qwenQwen3Vl235bA22bInstructOnAwsBedrockOpenai = {
  ...qwenOnAwsBedrockOpenai,
  cost: qwenQwen3Vl235bA22bInstructCost,
  dialect: awsBedrockOpenaiHost.dialect(qwenQwen3Vl235bA22bInstructDialect),
}

/** Every entry of the family, in the order of the file. */
export const QWEN: readonly TableEntry[] = [
  {
    ...qwen3_7MaxFacts,
    id: 'qwen3.7-max',
    name: 'Qwen3.7 Max',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2600, per: 'mtok' },
    aliases: ['qwen-max', 'qwen3-max'],
    upstreams: [{ ...qwen3_7MaxOnAlibaba, model: 'qwen3.7-max' }],
  },
  {
    ...qwen3_7MaxFacts,
    id: 'req/qwen3.7-max',
    name: 'Qwen3.7 Max (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 600, per: 'request' },
    upstreams: [{ ...qwen3_7MaxOnAlibabaPerCall, model: 'qwen3.7-max' }],
  },
  {
    ...qwen3_7PlusFacts,
    id: 'qwen3.7-plus',
    name: 'Qwen3.7 Plus',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1700, per: 'mtok' },
    aliases: ['qwen-plus'],
    upstreams: [{ ...qwen3_7PlusOnAlibaba, model: 'qwen3.7-plus' }],
  },
  {
    ...qwen3_7PlusFacts,
    id: 'req/qwen3.7-plus',
    name: 'Qwen3.7 Plus (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 350, per: 'request' },
    upstreams: [{ ...qwen3_7PlusOnAlibabaPerCall, model: 'qwen3.7-plus' }],
  },
  {
    ...qwen3CoderPlusFacts,
    id: 'qwen3-coder-plus',
    name: 'Qwen3 Coder Plus',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'mtok' },
    aliases: ['qwen3-coder', 'qwen3-coder-480b-a35b-instruct'],
    upstreams: [{ ...qwen3CoderPlusOnAlibaba, model: 'qwen3-coder-plus' }],
  },
  {
    ...qwen3CoderPlusFacts,
    id: 'req/qwen3-coder-plus',
    name: 'Qwen3 Coder Plus (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 420, per: 'request' },
    upstreams: [{ ...qwen3CoderPlusOnAlibabaPerCall, model: 'qwen3-coder-plus' }],
  },
  {
    ...qwen3Coder480bA35bInstructFacts,
    id: 'svc/qwen3-coder-480b',
    name: 'Qwen3 Coder 480B A35B Instruct (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2200, per: 'mtok' },
    aliases: ['qwen3-coder-480b'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-03-30', successor: 'svc/qwen3-vl-235b' },
    upstreams: [{ ...qwen3Coder480bA35bInstructOnAwsBedrockOpenai, model: 'qwen.qwen3-coder-480b-a35b-v1:0' }],
  },
  {
    ...qwenQwen3Vl235bA22bInstructFacts,
    id: 'svc/qwen3-vl-235b',
    name: 'Qwen/Qwen3-VL-235B-A22B-Instruct (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2200, per: 'mtok' },
    aliases: ['qwen3-vl-235b', 'qwen3-vl-235b-a22b-instruct'],
    upstreams: [{ ...qwenQwen3Vl235bA22bInstructOnAwsBedrockOpenai, model: 'qwen.qwen3-vl-235b-a22b' }],
  },
]
